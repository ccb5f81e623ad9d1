// Generated from openapi.yaml by `npm run generate`. Do not edit.
// @ts-nocheck

import { createRequire } from 'node:module'
import type { ValidateFunction } from 'ajv'
import { canonical, isExact, isWellFormed } from './exact.ts'

const require = createRequire(import.meta.url)

const validator0 = validate0;
const schema0 = {"$ref":"openapi.json#/components/schemas/NewPlant"};
const schema2 = {"allOf":[{"$ref":"openapi.json#/components/schemas/Plant"},{"type":"object","required":["id"],"properties":{"id":{"exact":{"types":["integer"],"format":"int64"}}}}]};
const schema3 = {"type":"object","required":["name"],"properties":{"name":{"type":"string","maxLength":1024,"pattern":"^[^\\x00]*$","x-wellFormed":true,"x-meaning":"must have no NUL character and no unpaired surrogate"},"tag":{"type":"string","maxLength":256,"pattern":"^[^\\x00]*$","x-wellFormed":true,"x-meaning":"must have no NUL character and no unpaired surrogate"}}};
const func0 = Object.prototype.hasOwnProperty;
const func2 = isWellFormed;
const func3 = require("ajv/dist/runtime/ucs2length").default;
const func9 = isExact;
const pattern0 = new RegExp("^[^\\x00]*$", "u");

function validate2(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate2.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if((data.name === undefined) || (!(func0.call(data, "name")))){
const err0 = {instancePath,schemaPath:"openapi.json#/components/schemas/Plant/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'",schema:schema3.required,parentSchema:schema3,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.name !== undefined && func0.call(data, "name")){
let data0 = data.name;
if(!(func2(data0, true))){
const err1 = {instancePath:instancePath+"/name",schemaPath:"openapi.json#/components/schemas/Plant/properties/name/x-wellFormed",keyword:"x-wellFormed",params:{},message:"must pass \"x-wellFormed\" keyword validation",schema:true,parentSchema:schema3.properties.name,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(typeof data0 === "string"){
if(func3(data0) > 1024){
const err2 = {instancePath:instancePath+"/name",schemaPath:"openapi.json#/components/schemas/Plant/properties/name/maxLength",keyword:"maxLength",params:{limit: 1024},message:"must NOT have more than 1024 characters",schema:1024,parentSchema:schema3.properties.name,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(!pattern0.test(data0)){
const err3 = {instancePath:instancePath+"/name",schemaPath:"openapi.json#/components/schemas/Plant/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema3.properties.name,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/name",schemaPath:"openapi.json#/components/schemas/Plant/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema3.properties.name.type,parentSchema:schema3.properties.name,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.tag !== undefined && func0.call(data, "tag")){
let data1 = data.tag;
if(!(func2(data1, true))){
const err5 = {instancePath:instancePath+"/tag",schemaPath:"openapi.json#/components/schemas/Plant/properties/tag/x-wellFormed",keyword:"x-wellFormed",params:{},message:"must pass \"x-wellFormed\" keyword validation",schema:true,parentSchema:schema3.properties.tag,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(typeof data1 === "string"){
if(func3(data1) > 256){
const err6 = {instancePath:instancePath+"/tag",schemaPath:"openapi.json#/components/schemas/Plant/properties/tag/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters",schema:256,parentSchema:schema3.properties.tag,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(!pattern0.test(data1)){
const err7 = {instancePath:instancePath+"/tag",schemaPath:"openapi.json#/components/schemas/Plant/properties/tag/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema3.properties.tag,data:data1};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/tag",schemaPath:"openapi.json#/components/schemas/Plant/properties/tag/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema3.properties.tag.type,parentSchema:schema3.properties.tag,data:data1};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath,schemaPath:"openapi.json#/components/schemas/Plant/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema3.type,parentSchema:schema3,data};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if((data.id === undefined) || (!(func0.call(data, "id")))){
const err10 = {instancePath,schemaPath:"#/allOf/1/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'",schema:schema2.allOf[1].required,parentSchema:schema2.allOf[1],data};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data.id !== undefined && func0.call(data, "id")){
let data2 = data.id;
if(!(func9(data2, schema2.allOf[1].properties.id.exact))){
const err11 = {instancePath:instancePath+"/id",schemaPath:"#/allOf/1/properties/id/exact",keyword:"exact",params:{},message:"must pass \"exact\" keyword validation",schema:schema2.allOf[1].properties.id.exact,parentSchema:schema2.allOf[1].properties.id,data:data2};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath,schemaPath:"#/allOf/1/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema2.allOf[1].type,parentSchema:schema2.allOf[1],data};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
validate2.errors = vErrors;
return errors === 0;
}
validate2.evaluated = {"props":{"id":true,"name":true,"tag":true},"dynamicProps":false,"dynamicItems":false};


function validate0(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate0.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate2(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate2.errors : vErrors.concat(validate2.errors);
errors = vErrors.length;
}
validate0.errors = vErrors;
return errors === 0;
}
validate0.evaluated = {"props":{"id":true,"name":true,"tag":true},"dynamicProps":false,"dynamicItems":false};

const validator1 = validate4;
const schema4 = {"exact":{"types":["integer"],"minimum":1,"maximum":1000}};

function validate4(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate4.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(func9(data, schema4.exact))){
const err0 = {instancePath,schemaPath:"#/exact",keyword:"exact",params:{},message:"must pass \"exact\" keyword validation",schema:schema4.exact,parentSchema:schema4,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate4.errors = vErrors;
return errors === 0;
}
validate4.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator2 = validate5;
const schema5 = {"exact":{"types":["integer"],"format":"int64"}};

function validate5(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate5.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(func9(data, schema5.exact))){
const err0 = {instancePath,schemaPath:"#/exact",keyword:"exact",params:{},message:"must pass \"exact\" keyword validation",schema:schema5.exact,parentSchema:schema5,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate5.errors = vErrors;
return errors === 0;
}
validate5.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator3 = validate6;
const schema6 = {"type":"string","maxLength":256,"pattern":"^[^\\x00]*$","x-wellFormed":true,"x-meaning":"must have no NUL character and no unpaired surrogate"};

function validate6(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate6.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(func2(data, true))){
const err0 = {instancePath,schemaPath:"#/x-wellFormed",keyword:"x-wellFormed",params:{},message:"must pass \"x-wellFormed\" keyword validation",schema:true,parentSchema:schema6,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(typeof data === "string"){
if(func3(data) > 256){
const err1 = {instancePath,schemaPath:"#/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters",schema:256,parentSchema:schema6,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!pattern0.test(data)){
const err2 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema6,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema6.type,parentSchema:schema6,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate6.errors = vErrors;
return errors === 0;
}
validate6.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator4 = validate7;
const schema7 = {"type":"string","maxLength":1024,"pattern":"^[^\\x00]*$","x-wellFormed":true,"x-meaning":"must have no NUL character and no unpaired surrogate"};

function validate7(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate7.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(func2(data, true))){
const err0 = {instancePath,schemaPath:"#/x-wellFormed",keyword:"x-wellFormed",params:{},message:"must pass \"x-wellFormed\" keyword validation",schema:true,parentSchema:schema7,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(typeof data === "string"){
if(func3(data) > 1024){
const err1 = {instancePath,schemaPath:"#/maxLength",keyword:"maxLength",params:{limit: 1024},message:"must NOT have more than 1024 characters",schema:1024,parentSchema:schema7,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!pattern0.test(data)){
const err2 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema7,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.type,parentSchema:schema7,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate7.errors = vErrors;
return errors === 0;
}
validate7.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator5 = validate8;
const schema8 = {"type":"string","pattern":"^(?:\\*|[ \\t,]*(?:(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\"(?:[ \\t]*,[ \\t,]*(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\")*[ \\t,]*)?)$","x-meaning":"must be * or a list of ETags in double quotes"};
const pattern4 = new RegExp("^(?:\\*|[ \\t,]*(?:(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\"(?:[ \\t]*,[ \\t,]*(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\")*[ \\t,]*)?)$", "u");

function validate8(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate8.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data === "string"){
if(!pattern4.test(data)){
const err0 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^(?:\\*|[ \\t,]*(?:(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\"(?:[ \\t]*,[ \\t,]*(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\")*[ \\t,]*)?)$"},message:"must match pattern \""+"^(?:\\*|[ \\t,]*(?:(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\"(?:[ \\t]*,[ \\t,]*(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\")*[ \\t,]*)?)$"+"\"",schema:"^(?:\\*|[ \\t,]*(?:(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\"(?:[ \\t]*,[ \\t,]*(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\")*[ \\t,]*)?)$",parentSchema:schema8,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema8.type,parentSchema:schema8,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate8.errors = vErrors;
return errors === 0;
}
validate8.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator6 = validate9;
const schema9 = {"type":"string","minLength":1,"maxLength":255,"pattern":"^[\\x21-\\x7E]*$","x-meaning":"must be visible ASCII characters without spaces"};
const pattern5 = new RegExp("^[\\x21-\\x7E]*$", "u");

function validate9(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate9.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data === "string"){
if(func3(data) > 255){
const err0 = {instancePath,schemaPath:"#/maxLength",keyword:"maxLength",params:{limit: 255},message:"must NOT have more than 255 characters",schema:255,parentSchema:schema9,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(func3(data) < 1){
const err1 = {instancePath,schemaPath:"#/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema9,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!pattern5.test(data)){
const err2 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^[\\x21-\\x7E]*$"},message:"must match pattern \""+"^[\\x21-\\x7E]*$"+"\"",schema:"^[\\x21-\\x7E]*$",parentSchema:schema9,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema9.type,parentSchema:schema9,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate9.errors = vErrors;
return errors === 0;
}
validate9.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator7 = validate10;
const schema10 = {"type":"string","pattern":"^[!-~]{1,64}$","x-meaning":"must be the position of a change, or now"};
const pattern6 = new RegExp("^[!-~]{1,64}$", "u");

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate10.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data === "string"){
if(!pattern6.test(data)){
const err0 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^[!-~]{1,64}$"},message:"must match pattern \""+"^[!-~]{1,64}$"+"\"",schema:"^[!-~]{1,64}$",parentSchema:schema10,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema10.type,parentSchema:schema10,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate10.errors = vErrors;
return errors === 0;
}
validate10.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator8 = validate11;
const schema11 = {"type":"string","enum":["created","replaced","deleted"]};
const obj0 = new Set(["\"created\"","\"replaced\"","\"deleted\""]);
const func18 = canonical;

function validate11(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate11.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.type,parentSchema:schema11,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(!(obj0.has(func18(data)))){
const err1 = {instancePath,schemaPath:"#/enum",keyword:"enum",params:{},message:"must pass \"enum\" keyword validation",schema:schema11.enum,parentSchema:schema11,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate11.errors = vErrors;
return errors === 0;
}
validate11.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator9 = validate12;
const schema12 = {"type":"string"};

function validate12(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate12.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema12.type,parentSchema:schema12,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate12.errors = vErrors;
return errors === 0;
}
validate12.evaluated = {"dynamicProps":false,"dynamicItems":false};

/** Keys are `plant`, or an operation with the place and the name of a parameter. */
export const validators: Readonly<Record<string, ValidateFunction>> = {
  'plant': validator0,
  'listPlants query limit': validator1,
  'listPlants query after': validator2,
  'listPlants query tag': validator3,
  'listPlants query name': validator4,
  'listPlants header If-None-Match': validator5,
  'createPlant header Idempotency-Key': validator6,
  'getPlant path id': validator2,
  'getPlant header If-Match': validator5,
  'getPlant header If-None-Match': validator5,
  'replacePlant path id': validator2,
  'replacePlant header If-Match': validator5,
  'replacePlant header If-None-Match': validator5,
  'deletePlant path id': validator2,
  'deletePlant header If-Match': validator5,
  'deletePlant header If-None-Match': validator5,
  'listChanges query limit': validator1,
  'listChanges query after': validator7,
  'listChanges query kind': validator8,
  'listChanges header Last-Event-ID': validator7,
  'getSiteFile path file': validator9,
  'getSiteFile header If-None-Match': validator5,
}

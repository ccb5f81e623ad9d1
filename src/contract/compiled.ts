// Generated from openapi.yaml by `npm run generate`. Do not edit.
// @ts-nocheck

import { createRequire } from 'node:module'
import type { ValidateFunction } from 'ajv'
import type { OperationId } from './document.ts'

type Serialiser = (body: unknown) => string

const require = createRequire(import.meta.url)

const validator0 = validate0;
const schema0 = {"type":"integer","minimum":1,"maximum":1000,"default":100};

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
if(!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema0.type,parentSchema:schema0,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data > 1000 || isNaN(data)){
const err1 = {instancePath,schemaPath:"#/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000",schema:1000,parentSchema:schema0,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data < 1 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema0,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
validate0.errors = vErrors;
return errors === 0;
}
validate0.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator1 = validate1;
const schema1 = {"int64":true};

function validate1(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate1.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(typeof data === "bigint" && data >= -9223372036854775808n && data <= 9223372036854775807n)){
const err0 = {instancePath,schemaPath:"#/int64",keyword:"int64",params:{},message:"must pass \"int64\" keyword validation",schema:true,parentSchema:schema1,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate1.errors = vErrors;
return errors === 0;
}
validate1.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator2 = validate2;
const schema2 = {"type":"string","maxLength":256,"pattern":"^[^\\x00]*$","x-wellFormed":true,"x-meaning":"must have no NUL character and no unpaired surrogate"};
const func0 = require("ajv/dist/runtime/ucs2length").default;
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
if(typeof data === "string"){
if(func0(data) > 256){
const err0 = {instancePath,schemaPath:"#/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters",schema:256,parentSchema:schema2,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(!pattern0.test(data)){
const err1 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema2,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!(data.isWellFormed())){
const err2 = {instancePath,schemaPath:"#/x-wellFormed",keyword:"x-wellFormed",params:{},message:"must pass \"x-wellFormed\" keyword validation",schema:true,parentSchema:schema2,data};
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
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema2.type,parentSchema:schema2,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate2.errors = vErrors;
return errors === 0;
}
validate2.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator3 = validate3;
const schema3 = {"type":"string","maxLength":1024,"pattern":"^[^\\x00]*$","x-wellFormed":true,"x-meaning":"must have no NUL character and no unpaired surrogate"};

function validate3(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate3.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data === "string"){
if(func0(data) > 1024){
const err0 = {instancePath,schemaPath:"#/maxLength",keyword:"maxLength",params:{limit: 1024},message:"must NOT have more than 1024 characters",schema:1024,parentSchema:schema3,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(!pattern0.test(data)){
const err1 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema3,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!(data.isWellFormed())){
const err2 = {instancePath,schemaPath:"#/x-wellFormed",keyword:"x-wellFormed",params:{},message:"must pass \"x-wellFormed\" keyword validation",schema:true,parentSchema:schema3,data};
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
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema3.type,parentSchema:schema3,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate3.errors = vErrors;
return errors === 0;
}
validate3.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator4 = validate4;
const schema4 = {"type":"string","pattern":"^(?:\\*|[ \\t,]*(?:(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\"(?:[ \\t]*,[ \\t,]*(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\")*[ \\t,]*)?)$","x-meaning":"must be * or a list of ETags in double quotes"};
const pattern2 = new RegExp("^(?:\\*|[ \\t,]*(?:(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\"(?:[ \\t]*,[ \\t,]*(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\")*[ \\t,]*)?)$", "u");

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
if(typeof data === "string"){
if(!pattern2.test(data)){
const err0 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^(?:\\*|[ \\t,]*(?:(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\"(?:[ \\t]*,[ \\t,]*(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\")*[ \\t,]*)?)$"},message:"must match pattern \""+"^(?:\\*|[ \\t,]*(?:(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\"(?:[ \\t]*,[ \\t,]*(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\")*[ \\t,]*)?)$"+"\"",schema:"^(?:\\*|[ \\t,]*(?:(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\"(?:[ \\t]*,[ \\t,]*(?:W/)?\"[\\x21\\x23-\\x7E\\x80-\\xFF]*\")*[ \\t,]*)?)$",parentSchema:schema4,data};
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
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema4.type,parentSchema:schema4,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate4.errors = vErrors;
return errors === 0;
}
validate4.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator5 = validate5;
const schema5 = {"description":"A new plant, with its id","allOf":[{"type":"object","description":"A plant. Its name and tag are any Unicode text, including line breaks and emoji, without NUL characters. Unpaired surrogates (U+D800 to U+DFFF) are refused, too, as UTF-8 cannot encode them. The patterns do not say so: no expression for it works in every tool.","required":["name"],"properties":{"name":{"description":"The name of the plant","type":"string","maxLength":1024,"pattern":"^[^\\x00]*$","x-wellFormed":true,"x-meaning":"must have no NUL character and no unpaired surrogate","examples":["Monstera deliciosa"]},"tag":{"description":"Tag to specify the type","type":"string","maxLength":256,"pattern":"^[^\\x00]*$","x-wellFormed":true,"x-meaning":"must have no NUL character and no unpaired surrogate","examples":["aroid"]}}},{"type":"object","required":["id"],"properties":{"id":{"description":"Identification number of the plant","int64":true}}}]};
const func2 = Object.prototype.hasOwnProperty;

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
if(data && typeof data == "object" && !Array.isArray(data)){
if((data.name === undefined) || (!(func2.call(data, "name")))){
const err0 = {instancePath,schemaPath:"#/allOf/0/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'",schema:schema5.allOf[0].required,parentSchema:schema5.allOf[0],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.name !== undefined && func2.call(data, "name")){
let data0 = data.name;
if(typeof data0 === "string"){
if(func0(data0) > 1024){
const err1 = {instancePath:instancePath+"/name",schemaPath:"#/allOf/0/properties/name/maxLength",keyword:"maxLength",params:{limit: 1024},message:"must NOT have more than 1024 characters",schema:1024,parentSchema:schema5.allOf[0].properties.name,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!pattern0.test(data0)){
const err2 = {instancePath:instancePath+"/name",schemaPath:"#/allOf/0/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema5.allOf[0].properties.name,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(!(data0.isWellFormed())){
const err3 = {instancePath:instancePath+"/name",schemaPath:"#/allOf/0/properties/name/x-wellFormed",keyword:"x-wellFormed",params:{},message:"must pass \"x-wellFormed\" keyword validation",schema:true,parentSchema:schema5.allOf[0].properties.name,data:data0};
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
const err4 = {instancePath:instancePath+"/name",schemaPath:"#/allOf/0/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema5.allOf[0].properties.name.type,parentSchema:schema5.allOf[0].properties.name,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.tag !== undefined && func2.call(data, "tag")){
let data1 = data.tag;
if(typeof data1 === "string"){
if(func0(data1) > 256){
const err5 = {instancePath:instancePath+"/tag",schemaPath:"#/allOf/0/properties/tag/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters",schema:256,parentSchema:schema5.allOf[0].properties.tag,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(!pattern0.test(data1)){
const err6 = {instancePath:instancePath+"/tag",schemaPath:"#/allOf/0/properties/tag/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema5.allOf[0].properties.tag,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(!(data1.isWellFormed())){
const err7 = {instancePath:instancePath+"/tag",schemaPath:"#/allOf/0/properties/tag/x-wellFormed",keyword:"x-wellFormed",params:{},message:"must pass \"x-wellFormed\" keyword validation",schema:true,parentSchema:schema5.allOf[0].properties.tag,data:data1};
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
const err8 = {instancePath:instancePath+"/tag",schemaPath:"#/allOf/0/properties/tag/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema5.allOf[0].properties.tag.type,parentSchema:schema5.allOf[0].properties.tag,data:data1};
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
const err9 = {instancePath,schemaPath:"#/allOf/0/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema5.allOf[0].type,parentSchema:schema5.allOf[0],data};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if((data.id === undefined) || (!(func2.call(data, "id")))){
const err10 = {instancePath,schemaPath:"#/allOf/1/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'",schema:schema5.allOf[1].required,parentSchema:schema5.allOf[1],data};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data.id !== undefined && func2.call(data, "id")){
let data2 = data.id;
if(!(typeof data2 === "bigint" && data2 >= -9223372036854775808n && data2 <= 9223372036854775807n)){
const err11 = {instancePath:instancePath+"/id",schemaPath:"#/allOf/1/properties/id/int64",keyword:"int64",params:{},message:"must pass \"int64\" keyword validation",schema:true,parentSchema:schema5.allOf[1].properties.id,data:data2};
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
const err12 = {instancePath,schemaPath:"#/allOf/1/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema5.allOf[1].type,parentSchema:schema5.allOf[1],data};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
validate5.errors = vErrors;
return errors === 0;
}
validate5.evaluated = {"props":{"id":true,"name":true,"tag":true},"dynamicProps":false,"dynamicItems":false};

const validator6 = validate6;
const schema6 = {"type":"string","minLength":1,"maxLength":255,"pattern":"^[\\x21-\\x7E]*$","x-meaning":"must be visible ASCII characters without spaces"};
const pattern5 = new RegExp("^[\\x21-\\x7E]*$", "u");

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
if(typeof data === "string"){
if(func0(data) > 255){
const err0 = {instancePath,schemaPath:"#/maxLength",keyword:"maxLength",params:{limit: 255},message:"must NOT have more than 255 characters",schema:255,parentSchema:schema6,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(func0(data) < 1){
const err1 = {instancePath,schemaPath:"#/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema6,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!pattern5.test(data)){
const err2 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^[\\x21-\\x7E]*$"},message:"must match pattern \""+"^[\\x21-\\x7E]*$"+"\"",schema:"^[\\x21-\\x7E]*$",parentSchema:schema6,data};
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

const validator7 = validate7;
const schema7 = {"type":"object","description":"A plant. Its name and tag are any Unicode text, including line breaks and emoji, without NUL characters. Unpaired surrogates (U+D800 to U+DFFF) are refused, too, as UTF-8 cannot encode them. The patterns do not say so: no expression for it works in every tool.","required":["name"],"properties":{"name":{"description":"The name of the plant","type":"string","maxLength":1024,"pattern":"^[^\\x00]*$","x-wellFormed":true,"x-meaning":"must have no NUL character and no unpaired surrogate","examples":["Monstera deliciosa"]},"tag":{"description":"Tag to specify the type","type":"string","maxLength":256,"pattern":"^[^\\x00]*$","x-wellFormed":true,"x-meaning":"must have no NUL character and no unpaired surrogate","examples":["aroid"]}}};

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
if(data && typeof data == "object" && !Array.isArray(data)){
if((data.name === undefined) || (!(func2.call(data, "name")))){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'",schema:schema7.required,parentSchema:schema7,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.name !== undefined && func2.call(data, "name")){
let data0 = data.name;
if(typeof data0 === "string"){
if(func0(data0) > 1024){
const err1 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/maxLength",keyword:"maxLength",params:{limit: 1024},message:"must NOT have more than 1024 characters",schema:1024,parentSchema:schema7.properties.name,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!pattern0.test(data0)){
const err2 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema7.properties.name,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(!(data0.isWellFormed())){
const err3 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/x-wellFormed",keyword:"x-wellFormed",params:{},message:"must pass \"x-wellFormed\" keyword validation",schema:true,parentSchema:schema7.properties.name,data:data0};
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
const err4 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.properties.name.type,parentSchema:schema7.properties.name,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.tag !== undefined && func2.call(data, "tag")){
let data1 = data.tag;
if(typeof data1 === "string"){
if(func0(data1) > 256){
const err5 = {instancePath:instancePath+"/tag",schemaPath:"#/properties/tag/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters",schema:256,parentSchema:schema7.properties.tag,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(!pattern0.test(data1)){
const err6 = {instancePath:instancePath+"/tag",schemaPath:"#/properties/tag/pattern",keyword:"pattern",params:{pattern: "^[^\\x00]*$"},message:"must match pattern \""+"^[^\\x00]*$"+"\"",schema:"^[^\\x00]*$",parentSchema:schema7.properties.tag,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(!(data1.isWellFormed())){
const err7 = {instancePath:instancePath+"/tag",schemaPath:"#/properties/tag/x-wellFormed",keyword:"x-wellFormed",params:{},message:"must pass \"x-wellFormed\" keyword validation",schema:true,parentSchema:schema7.properties.tag,data:data1};
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
const err8 = {instancePath:instancePath+"/tag",schemaPath:"#/properties/tag/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.properties.tag.type,parentSchema:schema7.properties.tag,data:data1};
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
const err9 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema7.type,parentSchema:schema7,data};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate7.errors = vErrors;
return errors === 0;
}
validate7.evaluated = {"props":{"name":true,"tag":true},"dynamicProps":false,"dynamicItems":false};

const validator8 = validate8;
const schema8 = {"type":"string","pattern":"^[!-~]{1,64}$","x-meaning":"must be the position of a change, or now"};
const pattern8 = new RegExp("^[!-~]{1,64}$", "u");

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
if(!pattern8.test(data)){
const err0 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^[!-~]{1,64}$"},message:"must match pattern \""+"^[!-~]{1,64}$"+"\"",schema:"^[!-~]{1,64}$",parentSchema:schema8,data};
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

const validator9 = validate9;
const schema9 = {"type":"string","enum":["created","replaced","deleted"]};

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
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema9.type,parentSchema:schema9,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(!(((data === "created") || (data === "replaced")) || (data === "deleted"))){
const err1 = {instancePath,schemaPath:"#/enum",keyword:"enum",params:{allowedValues: schema9.enum},message:"must be equal to one of the allowed values",schema:schema9.enum,parentSchema:schema9,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate9.errors = vErrors;
return errors === 0;
}
validate9.evaluated = {"dynamicProps":false,"dynamicItems":false};

const validator10 = validate10;
const schema10 = {"type":"string"};

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
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema10.type,parentSchema:schema10,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate10.errors = vErrors;
return errors === 0;
}
validate10.evaluated = {"dynamicProps":false,"dynamicItems":false};

/** Keys are the operation with `body`, or with the place and the name of a parameter. */
export const validators: Readonly<Record<string, ValidateFunction>> = {
  'listPlants query limit': validator0,
  'listPlants query after': validator1,
  'listPlants query tag': validator2,
  'listPlants query name': validator3,
  'listPlants header If-None-Match': validator4,
  'createPlant body': validator5,
  'createPlant header Idempotency-Key': validator6,
  'getPlant path id': validator1,
  'getPlant header If-Match': validator4,
  'getPlant header If-None-Match': validator4,
  'replacePlant body': validator7,
  'replacePlant path id': validator1,
  'replacePlant header If-Match': validator4,
  'replacePlant header If-None-Match': validator4,
  'deletePlant path id': validator1,
  'deletePlant header If-Match': validator4,
  'deletePlant header If-None-Match': validator4,
  'listChanges query limit': validator0,
  'listChanges query after': validator8,
  'listChanges query kind': validator9,
  'listChanges header Last-Event-ID': validator8,
  'getSiteFile path file': validator10,
  'getSiteFile header If-None-Match': validator4,
}

const serialiser0 = (() => {

  
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)

  const validator = null


  return function anonymous(validator,serializer
) {

    
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer

const asInteger = serializer.asInteger.bind(serializer)


    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
    
  
    
      // "#/items"
      function anonymous1 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        
      const value_id_1 = obj["id"]
      if (value_id_1 !== undefined) {
        json += "{\"id\":"
        json += asInteger(value_id_1)
      } else {
        throw new Error('"id" is required!')
      }
      
      const value_name_2 = obj["name"]
      if (value_name_2 !== undefined) {
        json += ",\"name\":"
        
        if (typeof value_name_2 !== 'string') {
          if (value_name_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_name_2 instanceof Date) {
            json += JSON_STR_QUOTE + value_name_2.toISOString() + JSON_STR_QUOTE
          } else if (value_name_2 instanceof RegExp) {
            json += asString(value_name_2.source)
          } else {
            json += asString(value_name_2.toString())
          }
        } else {
          json += asString(value_name_2)
        }
        
      } else {
        throw new Error('"name" is required!')
      }
      
      const value_tag_3 = obj["tag"]
      if (value_tag_3 !== undefined) {
        json += ",\"tag\":"
        
        if (typeof value_tag_3 !== 'string') {
          if (value_tag_3 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_tag_3 instanceof Date) {
            json += JSON_STR_QUOTE + value_tag_3.toISOString() + JSON_STR_QUOTE
          } else if (value_tag_3 instanceof RegExp) {
            json += asString(value_tag_3.source)
          } else {
            json += asString(value_tag_3.toString())
          }
        } else {
          json += asString(value_tag_3)
        }
        
      }

return json + JSON_STR_END_OBJECT

      }
    

    function anonymous0 (obj) {
      // "#"
      let json = ''
  
    if (obj === null) return JSON_STR_EMPTY_ARRAY
    if (!Array.isArray(obj)) {
      throw new TypeError("The value of '#' does not match schema definition.")
    }
    const arrayLength = obj.length
  
    json += JSON_STR_BEGIN_ARRAY
  
      if (arrayLength > 0) {
        const value = obj[0]
        json += anonymous1(value)
        for (let i = 1; i < arrayLength; i++) {
          json += JSON_STR_COMMA
          const value = obj[i]
          json += anonymous1(value)
        }
      }
      return json + JSON_STR_END_ARRAY
    }
    const main = anonymous0
    return main
    
}(validator, serializer)
})()
const serialiser1 = (() => {

  
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)

  const validator = null


  return function anonymous(validator,serializer
) {

    
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer

const asInteger = serializer.asInteger.bind(serializer)


    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
    
  
    
      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        
      const value_name_1 = obj["name"]
      if (value_name_1 !== undefined) {
        json += "{\"name\":"
        
        if (typeof value_name_1 !== 'string') {
          if (value_name_1 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_name_1 instanceof Date) {
            json += JSON_STR_QUOTE + value_name_1.toISOString() + JSON_STR_QUOTE
          } else if (value_name_1 instanceof RegExp) {
            json += asString(value_name_1.source)
          } else {
            json += asString(value_name_1.toString())
          }
        } else {
          json += asString(value_name_1)
        }
        
      } else {
        throw new Error('"name" is required!')
      }
      
      const value_tag_2 = obj["tag"]
      if (value_tag_2 !== undefined) {
        json += ",\"tag\":"
        
        if (typeof value_tag_2 !== 'string') {
          if (value_tag_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_tag_2 instanceof Date) {
            json += JSON_STR_QUOTE + value_tag_2.toISOString() + JSON_STR_QUOTE
          } else if (value_tag_2 instanceof RegExp) {
            json += asString(value_tag_2.source)
          } else {
            json += asString(value_tag_2.toString())
          }
        } else {
          json += asString(value_tag_2)
        }
        
      }

return json + JSON_STR_END_OBJECT

      }
    
    const main = anonymous0
    return main
    
}(validator, serializer)
})()
const serialiser2 = (() => {

  
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)

  const validator = null


  return function anonymous(validator,serializer
) {

    
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer

const asInteger = serializer.asInteger.bind(serializer)


    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
    
  
    
      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        
      const value_id_1 = obj["id"]
      if (value_id_1 !== undefined) {
        json += "{\"id\":"
        json += asInteger(value_id_1)
      } else {
        throw new Error('"id" is required!')
      }
      
      const value_name_2 = obj["name"]
      if (value_name_2 !== undefined) {
        json += ",\"name\":"
        
        if (typeof value_name_2 !== 'string') {
          if (value_name_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_name_2 instanceof Date) {
            json += JSON_STR_QUOTE + value_name_2.toISOString() + JSON_STR_QUOTE
          } else if (value_name_2 instanceof RegExp) {
            json += asString(value_name_2.source)
          } else {
            json += asString(value_name_2.toString())
          }
        } else {
          json += asString(value_name_2)
        }
        
      } else {
        throw new Error('"name" is required!')
      }
      
      const value_tag_3 = obj["tag"]
      if (value_tag_3 !== undefined) {
        json += ",\"tag\":"
        
        if (typeof value_tag_3 !== 'string') {
          if (value_tag_3 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_tag_3 instanceof Date) {
            json += JSON_STR_QUOTE + value_tag_3.toISOString() + JSON_STR_QUOTE
          } else if (value_tag_3 instanceof RegExp) {
            json += asString(value_tag_3.source)
          } else {
            json += asString(value_tag_3.toString())
          }
        } else {
          json += asString(value_tag_3)
        }
        
      }

return json + JSON_STR_END_OBJECT

      }
    
    const main = anonymous0
    return main
    
}(validator, serializer)
})()
const serialiser3 = (() => {

  
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)

  const validator = null


  return function anonymous(validator,serializer
) {

    
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer

const asInteger = serializer.asInteger.bind(serializer)


    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
    
  
    
      // "#/properties/tags/items"
      function anonymous2 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        
      const value_tag_4 = obj["tag"]
      if (value_tag_4 !== undefined) {
        json += "{\"tag\":"
        
        if (typeof value_tag_4 !== 'string') {
          if (value_tag_4 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_tag_4 instanceof Date) {
            json += JSON_STR_QUOTE + value_tag_4.toISOString() + JSON_STR_QUOTE
          } else if (value_tag_4 instanceof RegExp) {
            json += asString(value_tag_4.source)
          } else {
            json += asString(value_tag_4.toString())
          }
        } else {
          json += asString(value_tag_4)
        }
        
      } else {
        throw new Error('"tag" is required!')
      }
      
      const value_plants_5 = obj["plants"]
      if (value_plants_5 !== undefined) {
        json += ",\"plants\":"
        json += asInteger(value_plants_5)
      } else {
        throw new Error('"plants" is required!')
      }
      
return json + JSON_STR_END_OBJECT

      }
    

    function anonymous1 (obj) {
      // "#/properties/tags"
      let json = ''
  
    if (obj === null) return JSON_STR_EMPTY_ARRAY
    if (!Array.isArray(obj)) {
      throw new TypeError("The value of '#/properties/tags' does not match schema definition.")
    }
    const arrayLength = obj.length
  
    json += JSON_STR_BEGIN_ARRAY
  
      if (arrayLength > 0) {
        const value = obj[0]
        json += anonymous2(value)
        for (let i = 1; i < arrayLength; i++) {
          json += JSON_STR_COMMA
          const value = obj[i]
          json += anonymous2(value)
        }
      }
      return json + JSON_STR_END_ARRAY
    }

      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        
      const value_plants_1 = obj["plants"]
      if (value_plants_1 !== undefined) {
        json += "{\"plants\":"
        json += asInteger(value_plants_1)
      } else {
        throw new Error('"plants" is required!')
      }
      
      const value_tags_2 = obj["tags"]
      if (value_tags_2 !== undefined) {
        json += ",\"tags\":"
        json += anonymous1(value_tags_2)
      } else {
        throw new Error('"tags" is required!')
      }
      
      const value_isExact_6 = obj["isExact"]
      if (value_isExact_6 !== undefined) {
        json += ",\"isExact\":"
        json += asBoolean(value_isExact_6)
      } else {
        throw new Error('"isExact" is required!')
      }
      
return json + JSON_STR_END_OBJECT

      }
    
    const main = anonymous0
    return main
    
}(validator, serializer)
})()
const serialiser4 = (() => {

  
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)

  const validator = null


  return function anonymous(validator,serializer
) {

    
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer

const asInteger = serializer.asInteger.bind(serializer)


    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
    
  
    
      // "#/items/properties/plant"
      function anonymous2 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        
      const value_id_6 = obj["id"]
      if (value_id_6 !== undefined) {
        json += "{\"id\":"
        json += asInteger(value_id_6)
      } else {
        throw new Error('"id" is required!')
      }
      
      const value_name_7 = obj["name"]
      if (value_name_7 !== undefined) {
        json += ",\"name\":"
        
        if (typeof value_name_7 !== 'string') {
          if (value_name_7 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_name_7 instanceof Date) {
            json += JSON_STR_QUOTE + value_name_7.toISOString() + JSON_STR_QUOTE
          } else if (value_name_7 instanceof RegExp) {
            json += asString(value_name_7.source)
          } else {
            json += asString(value_name_7.toString())
          }
        } else {
          json += asString(value_name_7)
        }
        
      } else {
        throw new Error('"name" is required!')
      }
      
      const value_tag_8 = obj["tag"]
      if (value_tag_8 !== undefined) {
        json += ",\"tag\":"
        
        if (typeof value_tag_8 !== 'string') {
          if (value_tag_8 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_tag_8 instanceof Date) {
            json += JSON_STR_QUOTE + value_tag_8.toISOString() + JSON_STR_QUOTE
          } else if (value_tag_8 instanceof RegExp) {
            json += asString(value_tag_8.source)
          } else {
            json += asString(value_tag_8.toString())
          }
        } else {
          json += asString(value_tag_8)
        }
        
      }

return json + JSON_STR_END_OBJECT

      }
    

      // "#/items"
      function anonymous1 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        
      const value_position_1 = obj["position"]
      if (value_position_1 !== undefined) {
        json += "{\"position\":"
        
        if (typeof value_position_1 !== 'string') {
          if (value_position_1 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_position_1 instanceof Date) {
            json += JSON_STR_QUOTE + value_position_1.toISOString() + JSON_STR_QUOTE
          } else if (value_position_1 instanceof RegExp) {
            json += asString(value_position_1.source)
          } else {
            json += asString(value_position_1.toString())
          }
        } else {
          json += asString(value_position_1)
        }
        
      } else {
        throw new Error('"position" is required!')
      }
      
      const value_time_2 = obj["time"]
      if (value_time_2 !== undefined) {
        json += ",\"time\":"
        
        if (typeof value_time_2 !== 'string') {
          if (value_time_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_time_2 instanceof Date) {
            json += JSON_STR_QUOTE + value_time_2.toISOString() + JSON_STR_QUOTE
          } else if (value_time_2 instanceof RegExp) {
            json += asString(value_time_2.source)
          } else {
            json += asString(value_time_2.toString())
          }
        } else {
          json += asString(value_time_2)
        }
        
      } else {
        throw new Error('"time" is required!')
      }
      
      const value_kind_3 = obj["kind"]
      if (value_kind_3 !== undefined) {
        json += ",\"kind\":"
        
        if (typeof value_kind_3 !== 'string') {
          if (value_kind_3 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_kind_3 instanceof Date) {
            json += JSON_STR_QUOTE + value_kind_3.toISOString() + JSON_STR_QUOTE
          } else if (value_kind_3 instanceof RegExp) {
            json += asString(value_kind_3.source)
          } else {
            json += asString(value_kind_3.toString())
          }
        } else {
          json += asString(value_kind_3)
        }
        
      } else {
        throw new Error('"kind" is required!')
      }
      
      const value_plant_4 = obj["plant"]
      if (value_plant_4 !== undefined) {
        json += ",\"plant\":"
        json += anonymous2(value_plant_4)
      } else {
        throw new Error('"plant" is required!')
      }
      
      const value_callerId_9 = obj["callerId"]
      if (value_callerId_9 !== undefined) {
        json += ",\"callerId\":"
        
        if (typeof value_callerId_9 !== 'string') {
          if (value_callerId_9 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_callerId_9 instanceof Date) {
            json += JSON_STR_QUOTE + value_callerId_9.toISOString() + JSON_STR_QUOTE
          } else if (value_callerId_9 instanceof RegExp) {
            json += asString(value_callerId_9.source)
          } else {
            json += asString(value_callerId_9.toString())
          }
        } else {
          json += asString(value_callerId_9)
        }
        
      }

return json + JSON_STR_END_OBJECT

      }
    

    function anonymous0 (obj) {
      // "#"
      let json = ''
  
    if (obj === null) return JSON_STR_EMPTY_ARRAY
    if (!Array.isArray(obj)) {
      throw new TypeError("The value of '#' does not match schema definition.")
    }
    const arrayLength = obj.length
  
    json += JSON_STR_BEGIN_ARRAY
  
      if (arrayLength > 0) {
        const value = obj[0]
        json += anonymous1(value)
        for (let i = 1; i < arrayLength; i++) {
          json += JSON_STR_COMMA
          const value = obj[i]
          json += anonymous1(value)
        }
      }
      return json + JSON_STR_END_ARRAY
    }
    const main = anonymous0
    return main
    
}(validator, serializer)
})()
const serialiser5 = (() => {

  
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)

  const validator = null


  return function anonymous(validator,serializer
) {

    
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer

const asInteger = serializer.asInteger.bind(serializer)


    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
    
  
    
      // "#/properties/links"
      function anonymous1 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        
      const value_plants_5 = obj["plants"]
      if (value_plants_5 !== undefined) {
        json += "{\"plants\":"
        
        if (typeof value_plants_5 !== 'string') {
          if (value_plants_5 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_plants_5 instanceof Date) {
            json += JSON_STR_QUOTE + value_plants_5.toISOString() + JSON_STR_QUOTE
          } else if (value_plants_5 instanceof RegExp) {
            json += asString(value_plants_5.source)
          } else {
            json += asString(value_plants_5.toString())
          }
        } else {
          json += asString(value_plants_5)
        }
        
      } else {
        throw new Error('"plants" is required!')
      }
      
      const value_summary_6 = obj["summary"]
      if (value_summary_6 !== undefined) {
        json += ",\"summary\":"
        
        if (typeof value_summary_6 !== 'string') {
          if (value_summary_6 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_summary_6 instanceof Date) {
            json += JSON_STR_QUOTE + value_summary_6.toISOString() + JSON_STR_QUOTE
          } else if (value_summary_6 instanceof RegExp) {
            json += asString(value_summary_6.source)
          } else {
            json += asString(value_summary_6.toString())
          }
        } else {
          json += asString(value_summary_6)
        }
        
      } else {
        throw new Error('"summary" is required!')
      }
      
      const value_docs_7 = obj["docs"]
      if (value_docs_7 !== undefined) {
        json += ",\"docs\":"
        
        if (typeof value_docs_7 !== 'string') {
          if (value_docs_7 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_docs_7 instanceof Date) {
            json += JSON_STR_QUOTE + value_docs_7.toISOString() + JSON_STR_QUOTE
          } else if (value_docs_7 instanceof RegExp) {
            json += asString(value_docs_7.source)
          } else {
            json += asString(value_docs_7.toString())
          }
        } else {
          json += asString(value_docs_7)
        }
        
      } else {
        throw new Error('"docs" is required!')
      }
      
      const value_openapi_8 = obj["openapi"]
      if (value_openapi_8 !== undefined) {
        json += ",\"openapi\":"
        
        if (typeof value_openapi_8 !== 'string') {
          if (value_openapi_8 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_openapi_8 instanceof Date) {
            json += JSON_STR_QUOTE + value_openapi_8.toISOString() + JSON_STR_QUOTE
          } else if (value_openapi_8 instanceof RegExp) {
            json += asString(value_openapi_8.source)
          } else {
            json += asString(value_openapi_8.toString())
          }
        } else {
          json += asString(value_openapi_8)
        }
        
      } else {
        throw new Error('"openapi" is required!')
      }
      
      const value_health_9 = obj["health"]
      if (value_health_9 !== undefined) {
        json += ",\"health\":"
        
        if (typeof value_health_9 !== 'string') {
          if (value_health_9 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_health_9 instanceof Date) {
            json += JSON_STR_QUOTE + value_health_9.toISOString() + JSON_STR_QUOTE
          } else if (value_health_9 instanceof RegExp) {
            json += asString(value_health_9.source)
          } else {
            json += asString(value_health_9.toString())
          }
        } else {
          json += asString(value_health_9)
        }
        
      } else {
        throw new Error('"health" is required!')
      }
      
return json + JSON_STR_END_OBJECT

      }
    

    function anonymous3 (obj) {
      // "#/properties/caller/properties/scopes"
      let json = ''
  
    if (obj === null) return JSON_STR_EMPTY_ARRAY
    if (!Array.isArray(obj)) {
      throw new TypeError("The value of '#/properties/caller/properties/scopes' does not match schema definition.")
    }
    const arrayLength = obj.length
  
      if (typeof arrayLength === 'number' && arrayLength >= 8 && Number.isInteger(arrayLength) && arrayLength <= 0xffffffff) {
        return asPlainStringArray(obj, arrayLength)
      }
      
    json += JSON_STR_BEGIN_ARRAY
  
      if (arrayLength > 0) {
        const value = obj[0]
        
        if (typeof value !== 'string') {
          if (value === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value instanceof Date) {
            json += JSON_STR_QUOTE + value.toISOString() + JSON_STR_QUOTE
          } else if (value instanceof RegExp) {
            json += asString(value.source)
          } else {
            json += asString(value.toString())
          }
        } else {
          json += asString(value)
        }
        
        for (let i = 1; i < arrayLength; i++) {
          json += JSON_STR_COMMA
          const value = obj[i]
          
        if (typeof value !== 'string') {
          if (value === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value instanceof Date) {
            json += JSON_STR_QUOTE + value.toISOString() + JSON_STR_QUOTE
          } else if (value instanceof RegExp) {
            json += asString(value.source)
          } else {
            json += asString(value.toString())
          }
        } else {
          json += asString(value)
        }
        
        }
      }
      return json + JSON_STR_END_ARRAY
    }

      // "#/properties/caller"
      function anonymous2 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        
      const value_id_12 = obj["id"]
      if (value_id_12 !== undefined) {
        json += "{\"id\":"
        
        if (typeof value_id_12 !== 'string') {
          if (value_id_12 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_id_12 instanceof Date) {
            json += JSON_STR_QUOTE + value_id_12.toISOString() + JSON_STR_QUOTE
          } else if (value_id_12 instanceof RegExp) {
            json += asString(value_id_12.source)
          } else {
            json += asString(value_id_12.toString())
          }
        } else {
          json += asString(value_id_12)
        }
        
      } else {
        throw new Error('"id" is required!')
      }
      
      const value_name_13 = obj["name"]
      if (value_name_13 !== undefined) {
        json += ",\"name\":"
        
        if (typeof value_name_13 !== 'string') {
          if (value_name_13 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_name_13 instanceof Date) {
            json += JSON_STR_QUOTE + value_name_13.toISOString() + JSON_STR_QUOTE
          } else if (value_name_13 instanceof RegExp) {
            json += asString(value_name_13.source)
          } else {
            json += asString(value_name_13.toString())
          }
        } else {
          json += asString(value_name_13)
        }
        
      } else {
        throw new Error('"name" is required!')
      }
      
      const value_scopes_14 = obj["scopes"]
      if (value_scopes_14 !== undefined) {
        json += ",\"scopes\":"
        json += anonymous3(value_scopes_14)
      } else {
        throw new Error('"scopes" is required!')
      }
      
      const value_expires_15 = obj["expires"]
      if (value_expires_15 !== undefined) {
        json += ",\"expires\":"
        
        if (typeof value_expires_15 !== 'string') {
          if (value_expires_15 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_expires_15 instanceof Date) {
            json += JSON_STR_QUOTE + value_expires_15.toISOString() + JSON_STR_QUOTE
          } else if (value_expires_15 instanceof RegExp) {
            json += asString(value_expires_15.source)
          } else {
            json += asString(value_expires_15.toString())
          }
        } else {
          json += asString(value_expires_15)
        }
        
      }

return json + JSON_STR_END_OBJECT

      }
    

      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        
      const value_title_1 = obj["title"]
      if (value_title_1 !== undefined) {
        json += "{\"title\":"
        
        if (typeof value_title_1 !== 'string') {
          if (value_title_1 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_title_1 instanceof Date) {
            json += JSON_STR_QUOTE + value_title_1.toISOString() + JSON_STR_QUOTE
          } else if (value_title_1 instanceof RegExp) {
            json += asString(value_title_1.source)
          } else {
            json += asString(value_title_1.toString())
          }
        } else {
          json += asString(value_title_1)
        }
        
      } else {
        throw new Error('"title" is required!')
      }
      
      const value_version_2 = obj["version"]
      if (value_version_2 !== undefined) {
        json += ",\"version\":"
        
        if (typeof value_version_2 !== 'string') {
          if (value_version_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_version_2 instanceof Date) {
            json += JSON_STR_QUOTE + value_version_2.toISOString() + JSON_STR_QUOTE
          } else if (value_version_2 instanceof RegExp) {
            json += asString(value_version_2.source)
          } else {
            json += asString(value_version_2.toString())
          }
        } else {
          json += asString(value_version_2)
        }
        
      } else {
        throw new Error('"version" is required!')
      }
      
      const value_links_3 = obj["links"]
      if (value_links_3 !== undefined) {
        json += ",\"links\":"
        json += anonymous1(value_links_3)
      } else {
        throw new Error('"links" is required!')
      }
      
      const value_caller_10 = obj["caller"]
      if (value_caller_10 !== undefined) {
        json += ",\"caller\":"
        json += anonymous2(value_caller_10)
      }

return json + JSON_STR_END_OBJECT

      }
    
    const main = anonymous0
    return main
    
}(validator, serializer)
})()
const serialiser6 = (() => {

  
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)

  const validator = null


  return function anonymous(validator,serializer
) {

    
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer

const asInteger = serializer.asInteger.bind(serializer)


    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
    
  
    
      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        
      const value_status_1 = obj["status"]
      if (value_status_1 !== undefined) {
        json += "{\"status\":"
        json += "\"ok\""
      } else {
        throw new Error('"status" is required!')
      }
      
return json + JSON_STR_END_OBJECT

      }
    
    const main = anonymous0
    return main
    
}(validator, serializer)
})()
const serialiser7 = (() => {

  
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)

  const validator = null


  return function anonymous(validator,serializer
) {

    
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer

const asInteger = serializer.asInteger.bind(serializer)


    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
    
  
    
      // "#/properties/info"
      function anonymous1 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        json += JSON_STR_BEGIN_OBJECT

return json + JSON_STR_END_OBJECT

      }
    

      // "#/properties/paths"
      function anonymous2 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        json += JSON_STR_BEGIN_OBJECT

return json + JSON_STR_END_OBJECT

      }
    

      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        
      const value_openapi_1 = obj["openapi"]
      if (value_openapi_1 !== undefined) {
        json += "{\"openapi\":"
        
        if (typeof value_openapi_1 !== 'string') {
          if (value_openapi_1 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_openapi_1 instanceof Date) {
            json += JSON_STR_QUOTE + value_openapi_1.toISOString() + JSON_STR_QUOTE
          } else if (value_openapi_1 instanceof RegExp) {
            json += asString(value_openapi_1.source)
          } else {
            json += asString(value_openapi_1.toString())
          }
        } else {
          json += asString(value_openapi_1)
        }
        
      } else {
        throw new Error('"openapi" is required!')
      }
      
      const value_info_2 = obj["info"]
      if (value_info_2 !== undefined) {
        json += ",\"info\":"
        json += anonymous1(value_info_2)
      } else {
        throw new Error('"info" is required!')
      }
      
      const value_paths_4 = obj["paths"]
      if (value_paths_4 !== undefined) {
        json += ",\"paths\":"
        json += anonymous2(value_paths_4)
      } else {
        throw new Error('"paths" is required!')
      }
      
return json + JSON_STR_END_OBJECT

      }
    
    const main = anonymous0
    return main
    
}(validator, serializer)
})()
const serialiser8 = (() => {

  
  const Serializer = require('fast-json-stringify/lib/serializer')
  const serializerState = {"mode":"standalone"}
  const serializer = Serializer.restoreFromState(serializerState)

  const validator = null


  return function anonymous(validator,serializer
) {

    
const {
  asString,
  asNumber,
  asBoolean,
  asDateTime,
  asDate,
  asTime,
  asUnsafeString,
  asPlainStringArray
} = serializer

const asInteger = serializer.asInteger.bind(serializer)


    const JSON_STR_BEGIN_OBJECT = '{'
    const JSON_STR_END_OBJECT = '}'
    const JSON_STR_BEGIN_ARRAY = '['
    const JSON_STR_END_ARRAY = ']'
    const JSON_STR_COMMA = ','
    const JSON_STR_COLONS = ':'
    const JSON_STR_QUOTE = '"'
    const JSON_STR_EMPTY_OBJECT = JSON_STR_BEGIN_OBJECT + JSON_STR_END_OBJECT
    const JSON_STR_EMPTY_ARRAY = JSON_STR_BEGIN_ARRAY + JSON_STR_END_ARRAY
    const JSON_STR_EMPTY_STRING = JSON_STR_QUOTE + JSON_STR_QUOTE
    const JSON_STR_NULL = 'null'
    
  
    
      // "#"
      function anonymous0 (input) {
        const obj = (input && typeof input.toJSON === 'function')
    ? input.toJSON()
    : input
  
        if (obj === null) return JSON_STR_EMPTY_OBJECT
        let json = ''

        
      const value_error_1 = obj["error"]
      if (value_error_1 !== undefined) {
        json += "{\"error\":"
        json += asInteger(value_error_1)
      } else {
        throw new Error('"error" is required!')
      }
      
      const value_message_2 = obj["message"]
      if (value_message_2 !== undefined) {
        json += ",\"message\":"
        
        if (typeof value_message_2 !== 'string') {
          if (value_message_2 === null) {
            json += JSON_STR_EMPTY_STRING
          } else if (value_message_2 instanceof Date) {
            json += JSON_STR_QUOTE + value_message_2.toISOString() + JSON_STR_QUOTE
          } else if (value_message_2 instanceof RegExp) {
            json += asString(value_message_2.source)
          } else {
            json += asString(value_message_2.toString())
          }
        } else {
          json += asString(value_message_2)
        }
        
      } else {
        throw new Error('"message" is required!')
      }
      
return json + JSON_STR_END_OBJECT

      }
    
    const main = anonymous0
    return main
    
}(validator, serializer)
})()

/** For the JSON of a 200, by operation, and for `Error`. Properties outside of the schema are never sent. */
export const serialisers: Readonly<Partial<Record<OperationId, Serialiser>> & Record<'Error', Serialiser>> = {
  'listPlants': serialiser0,
  'createPlant': serialiser1,
  'getPlant': serialiser2,
  'replacePlant': serialiser1,
  'getSummary': serialiser3,
  'listChanges': serialiser4,
  'getHome': serialiser5,
  'getLivez': serialiser6,
  'getReadyz': serialiser6,
  'getOpenapiJson': serialiser7,
  'Error': serialiser8,
}

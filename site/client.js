// Generated from src/client by `npm run generate`. Do not edit.

class PlantStoreError extends Error {
    name = 'PlantStoreError';
    status;
    error;
    requestId;
    retryAfter;
    constructor(message, { status, error, requestId, retryAfter, cause } = {}) {
        super(message, cause === undefined ? undefined : { cause });
        this.status = status;
        this.error = error;
        this.requestId = requestId;
        this.retryAfter = retryAfter;
    }
}

const idsAndStrings = /"id"\s*:\s*(-?\d+)(?![\d.eE])|"[^"\\]*(?:\\.[^"\\]*)*"/g;
const mark = '\u0000';
const integer = /^(?:0|-?[1-9]\d*)$/;
function idDigits(id) {
    if (typeof id === 'number' && !Number.isSafeInteger(id)) {
        throw new TypeError(`an id must be a bigint, a safe integer or decimal digits, not the number ${id}`);
    }
    return String(id);
}
function plantToJson(plant) {
    const { id, name, tag } = plant;
    const rest = JSON.stringify({ name, tag });
    if (id === undefined)
        return rest;
    const digits = idDigits(id);
    const comma = rest === '{}' ? '' : ',';
    return `{"id":${integer.test(digits) ? digits : JSON.stringify(digits)}${comma}${rest.slice(1)}`;
}
function fromJson(text) {
    const marked = text.replace(idsAndStrings, (part, digits) => digits === undefined ? part : `"id":"\\u0000${digits}"`);
    return JSON.parse(marked, (key, value) => key === 'id' && typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value);
}

function newKey() {
    return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join('-');
}
function fieldValue(name, text) {
    if (/^[\x20-\x7e]+$/.test(text))
        return text;
    throw new TypeError(`${name} must consist of spaces and visible ASCII characters`);
}
function assertPositive(name, value) {
    if (!(value > 0))
        throw new TypeError(`${name} must be a number above 0, not ${value}`);
}
function wellFormed(name, text) {
    if (text.isWellFormed())
        return text;
    throw new TypeError(`${name} must be well-formed Unicode, without half a surrogate pair`);
}

const links = /<([^>]*)>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]+))?)*)/g;
const relations = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;
function nextOf({ headers }) {
    for (const [, target = '', parameters = ''] of (headers.get('link') ?? '').matchAll(links)) {
        const [, quoted, bare = ''] = relations.exec(parameters) ?? [];
        const isNext = (quoted ?? bare).toLowerCase().split(/\s+/).includes('next');
        if (isNext)
            return new URLSearchParams(target.split('?')[1]).get('after') ?? undefined;
    }
    return undefined;
}

const passing = [429, 502, 503, 504];
const outcomeUnknown = 50302;
const pauseMsMin = 50;
const pauseMsMax = 2_000;
const timerMsMax = 2 ** 31 - 1;
async function exchange(send, request, patience, signal) {
    const endMs = performance.now() + patience.timeoutMs;
    let isAgain = false;
    for (let tries = 1;; tries += 1) {
        const outcome = { ...(await tryOnce(send, request, patience, endMs, signal)), isAgain };
        const { failure } = outcome;
        if (failure === undefined || !mayPass(failure) || tries >= patience.triesMax)
            return outcome;
        const pauseMs = pauseBefore(tries, failure);
        if (performance.now() + pauseMs >= endMs)
            return outcome;
        isAgain ||= mayBeDone(failure);
        await pause(pauseMs, signal);
    }
}
async function tryOnce(send, { url, method, headers, body }, { timeoutMs, tryTimeoutMs }, endMs, signal) {
    signal?.throwIfAborted();
    const timeout = new AbortController();
    const leftMs = Math.max(endMs - performance.now(), 0);
    const timer = setTimeout(() => timeout.abort(), Math.min(tryTimeoutMs, leftMs, timerMsMax));
    try {
        const limit = signal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, signal]);
        const sent = send(url, {
            method,
            headers: { Accept: 'application/json', ...headers },
            ...(body !== undefined && { body }),
            cache: 'no-store',
            redirect: 'manual',
            signal: limit,
        });
        const [response, answer] = await Promise.race([
            sent.then(async (response) => [response, await read(response)]),
            rejectedBy(limit),
        ]);
        if (response.type === 'opaqueredirect' || (answer.status > 300 && answer.status < 400 && answer.status !== 304)) {
            const message = `${new URL(url).origin} redirects; give the URL that it redirects to`;
            return { failure: new PlantStoreError(message, { status: answer.status || 302 }) };
        }
        if (isCutShort(answer)) {
            return { failure: new PlantStoreError(`the answer of ${new URL(url).origin} was cut short`) };
        }
        return answer.status < 400 ? { answer } : { failure: refusalOf(answer, response.statusText) };
    }
    catch (cause) {
        signal?.throwIfAborted();
        const { origin } = new URL(url);
        if (timeout.signal.aborted) {
            const seconds = (tryTimeoutMs < leftMs ? tryTimeoutMs : timeoutMs) / 1000;
            return { failure: new PlantStoreError(`${origin} did not answer within ${seconds} s`, { cause }) };
        }
        return { failure: new PlantStoreError(`${origin} cannot be reached: ${reasonOf(cause)}`, { cause }) };
    }
    finally {
        clearTimeout(timer);
    }
}
function rejectedBy(signal) {
    return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
}
async function read(response) {
    const { status, headers } = response;
    const text = await response.text();
    return { status, headers, text, value: isJson(headers) ? parse(text) : undefined };
}
function isCutShort({ status, headers, text, value }) {
    return status === 200 && (text === '' || (isJson(headers) && value === undefined));
}
function isJson(headers) {
    return /^application\/json\b/i.test(headers.get('content-type') ?? '');
}
function parse(text) {
    try {
        return fromJson(text);
    }
    catch {
        return undefined;
    }
}
function refusalOf({ status, headers, value }, statusText) {
    const { error, message } = (value ?? {});
    return new PlantStoreError(typeof message === 'string' ? message : `${status} ${statusText}`.trim(), {
        status,
        error: typeof error === 'number' ? error : undefined,
        requestId: headers.get('x-request-id') ?? undefined,
        retryAfter: secondsOf(headers.get('retry-after')),
    });
}
function secondsOf(retryAfter) {
    if (retryAfter === null)
        return undefined;
    const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000;
    return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}
function reasonOf(error) {
    const { cause, message } = error;
    const words = /^[0-9A-F]+:error:[^:]*:[^:]*:[^:]*:([^:]*):/.exec(cause?.message ?? '')?.[1];
    return words ?? (cause?.message || cause?.code || message);
}
function mayPass({ status }) {
    return status === undefined || passing.includes(status);
}
function mayBeDone({ error }) {
    return error === undefined || error === outcomeUnknown;
}
function pauseBefore(tries, { retryAfter = 0 }) {
    const ceilingMs = Math.min(pauseMsMin * 2 ** (tries - 1), pauseMsMax);
    return Math.min(retryAfter * 1000 + Math.random() * ceilingMs, timerMsMax);
}
function pause(ms, signal) {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(done, ms);
        signal?.addEventListener('abort', done, { once: true });
        function done() {
            clearTimeout(timer);
            signal?.removeEventListener('abort', done);
            if (signal?.aborted)
                reject(signal.reason);
            else
                resolve();
        }
    });
}

export { PlantStoreError };
const unknownPlant = 40402;
export class PlantStoreClient {
    url;
    #headers;
    #patience;
    #fetch;
    constructor({ url, token, timeoutMs = 30_000, tryTimeoutMs = 10_000, triesMax = 9, fetch: send }) {
        const { protocol, origin, pathname } = new URL(url);
        if (!/^https?:$/.test(protocol))
            throw new TypeError(`the URL of a plant store begins with http: or https:, not ${url}`);
        this.url = (origin + pathname).replace(/\/+$/, '');
        this.#headers = token === undefined ? {} : { Authorization: `Bearer ${fieldValue('token', token)}` };
        this.#patience = { timeoutMs, tryTimeoutMs, triesMax };
        for (const [name, value] of Object.entries(this.#patience))
            assertPositive(name, value);
        this.#fetch = send ?? ((...request) => fetch(...request));
    }
    async createPlant(plant, { idempotencyKey = newKey(), ...options } = {}) {
        const headers = { 'Idempotency-Key': fieldValue('idempotencyKey', idempotencyKey) };
        const body = plantToJson(plant);
        return this.#read(await this.#call({ method: 'POST', path: '/plants', headers, body }, options), isPlant);
    }
    listPlants(query = {}, options = {}) {
        const pages = () => this.#pages(query, options);
        return {
            pages,
            async *[Symbol.asyncIterator]() {
                for await (const { plants } of pages())
                    yield* plants;
            },
        };
    }
    async getPlant(id, { ifNoneMatch, ...options } = {}) {
        const headers = ifNoneMatch === undefined ? {} : { 'If-None-Match': etagOf(ifNoneMatch) };
        const answer = await this.#call({ path: plantPath(id), headers }, options);
        if (answer.status === 304 && ifNoneMatch !== undefined)
            return ifNoneMatch;
        const plant = this.#read(answer, isStoredPlant);
        if (String(plant.id) !== idDigits(id))
            throw this.#isOther(answer);
        return tagged(plant, answer);
    }
    async replacePlant(id, { name, tag }, { ifMatch, ...options } = {}) {
        const plant = { name, ...(tag !== undefined && { tag }) };
        const call = { method: 'PUT', path: plantPath(id), headers: match(ifMatch), body: plantToJson(plant) };
        const startedMs = performance.now();
        const outcome = await this.#try(call, options);
        if (outcome.isAgain && outcome.failure?.status === 412) {
            const leftMs = (options.timeoutMs ?? this.#patience.timeoutMs) - (performance.now() - startedMs);
            const found = await this.getPlant(id, { ...options, timeoutMs: Math.max(leftMs, 1) }).catch((error) => {
                if (error instanceof PlantStoreError && (error.error === unknownPlant || error.status === 403))
                    return undefined;
                throw error;
            });
            if (found?.name === name && found.tag === tag)
                return { ...plant, etag: found.etag };
        }
        const answer = answerOf(outcome);
        return tagged(this.#read(answer, isPlant), answer);
    }
    async deletePlant(id, { ifMatch, ...options } = {}) {
        const outcome = await this.#try({ method: 'DELETE', path: plantPath(id), headers: match(ifMatch) }, options);
        if (outcome.isAgain && outcome.failure?.error === unknownPlant)
            return;
        const answer = answerOf(outcome);
        if (answer.status !== 204)
            throw this.#isOther(answer);
    }
    async getSummary(options = {}) {
        return this.#read(await this.#call({ path: '/summary' }, options), isSummary);
    }
    async getHome(options = {}) {
        return this.#read(await this.#call({ path: '/' }, options), (isObject));
    }
    async getLivez(options = {}) {
        return this.#read(await this.#call({ path: '/livez' }, options), (isObject));
    }
    async getReadyz(options = {}) {
        return this.#read(await this.#call({ path: '/readyz' }, options), (isObject));
    }
    getOpenapiJson(options = {}) {
        return this.#text('/openapi.json', options);
    }
    getOpenapiYaml(options = {}) {
        return this.#text('/openapi.yaml', options);
    }
    getDocs(options = {}) {
        return this.#text('/docs', options);
    }
    getSiteFile(file, options = {}) {
        return this.#text(`/site/${encodeURIComponent(file)}`, options);
    }
    async *#pages({ after, ...filters }, options) {
        const query = new URLSearchParams();
        for (const [name, value] of Object.entries(filters))
            if (value !== undefined)
                query.set(name, wellFormed(name, String(value)));
        let next = after === undefined ? undefined : idDigits(after);
        do {
            if (next !== undefined)
                query.set('after', next);
            const answer = await this.#call({ path: `/plants?${query}` }, options);
            const before = next;
            next = nextOf(answer);
            if (next !== undefined && next === before)
                throw this.#isOther(answer);
            yield { plants: this.#read(answer, isPlantList), next };
        } while (next !== undefined);
    }
    async #text(path, options) {
        return (await this.#call({ path, headers: { Accept: '*/*' } }, options)).text;
    }
    async #call(call, options) {
        return answerOf(await this.#try(call, options));
    }
    #try({ method = 'GET', path, headers, body }, { signal, timeoutMs }) {
        const type = body === undefined ? undefined : { 'Content-Type': 'application/json' };
        const request = { method, url: this.url + path, headers: { ...this.#headers, ...type, ...headers } };
        if (timeoutMs !== undefined)
            assertPositive('timeoutMs', timeoutMs);
        const patience = timeoutMs === undefined ? this.#patience : { ...this.#patience, timeoutMs };
        return exchange(this.#fetch, { ...request, ...(body !== undefined && { body }) }, patience, signal);
    }
    #read(answer, isRight) {
        if (isRight(answer.value))
            return answer.value;
        throw this.#isOther(answer);
    }
    #isOther({ status, headers }) {
        const requestId = headers.get('x-request-id') ?? undefined;
        const message = `${this.url} did not answer as a plant store does; is it the right server?`;
        return new PlantStoreError(message, { status, requestId });
    }
}
function answerOf({ answer, failure }) {
    if (failure !== undefined)
        throw failure;
    return answer;
}
function plantPath(id) {
    const digits = idDigits(id);
    if (/^\.{0,2}$/.test(digits))
        throw new TypeError(`an id must be an integer, not ${JSON.stringify(digits)}`);
    return `/plants/${encodeURIComponent(digits)}`;
}
function match(ifMatch) {
    if (ifMatch === undefined)
        return {};
    return { 'If-Match': fieldValue('ifMatch', typeof ifMatch === 'string' ? ifMatch : etagOf(ifMatch)) };
}
function etagOf({ etag }) {
    if (typeof etag === 'string' && etag !== '')
        return etag;
    throw new TypeError('a plant without its ETag: hand back what getPlant or replacePlant gave');
}
function tagged(value, { headers }) {
    return { ...value, etag: headers.get('etag') ?? '' };
}
function isObject(value) {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
}
function isPlant(value) {
    if (!isObject(value))
        return false;
    return typeof value.name === 'string' && ['string', 'undefined'].includes(typeof value.tag);
}
function isStoredPlant(value) {
    return isPlant(value) && 'id' in value && typeof value.id === 'bigint';
}
function isPlantList(value) {
    return Array.isArray(value) && value.every(isStoredPlant);
}
function isSummary(value) {
    return isObject(value) && Array.isArray(value.tags);
}

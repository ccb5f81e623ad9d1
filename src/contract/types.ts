// Generated from openapi.yaml by `npm run generate`. Do not edit.

export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where everything is
         * @description A page to look at and change the plants for whoever accepts `text/html`, as browsers do; for others, links in JSON.
         */
        get: operations["getHome"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read this document as a page
         * @description Every operation, with its parameters, bodies and errors, for people. Where `@scalar/fastify-api-reference` is installed the page also sends requests, with a token of yours.
         */
        get: operations["getDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the process alive?
         * @description Answers as long as the process can answer at all, whatever the state of its store.
         */
        get: operations["getLivez"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document, as JSON
         * @description Its `servers` begin with the one that was asked, or with the public URL that the server was started with.
         */
        get: operations["getOpenapiJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.yaml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document, as YAML
         * @description As people wrote it, with the same `servers` as the JSON has.
         */
        get: operations["getOpenapiYaml"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/plants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List plants
         * @description The plants in the order of their ids. A page may hold fewer plants than `limit`, even none, and still have a next one: there is more just as long as there is a `Link` with `rel="next"`. Following it visits every plant that is there all the while exactly once, whatever is created and deleted meanwhile. Filters combine. Query parameters that are not listed here are refused.
         */
        get: operations["listPlants"];
        put?: never;
        /**
         * Create a plant
         * @description Creates a new plant in the store. The answer is sent after the plant is on disk. An id that is taken is refused with 409 and never overwritten. With an `Idempotency-Key` the request can be repeated safely.
         */
        post: operations["createPlant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/plants/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a plant
         * @description The plant with its id. With `If-None-Match` it is sent only when it has changed, with `If-Match` only when it has not.
         */
        get: operations["getPlant"];
        /**
         * Replace a plant
         * @description Gives the plant another name and tag; a tag that is not sent is taken away. Nothing is created when there is no plant with the id. With `If-Match` the plant is replaced only when it is still as the client knows it, so that no update is lost.
         */
        put: operations["replacePlant"];
        post?: never;
        /**
         * Delete a plant
         * @description Takes the plant away; its id is free again. An Idempotency-Key that created it does not bring it back. With `If-Match` it is deleted only when it is still as the client knows it.
         */
        delete: operations["deletePlant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the service ready for requests?
         * @description 503 before the store is open, once its disk has failed, and while the service is shutting down.
         */
        get: operations["getReadyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/site/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a file of the pages
         * @description What the pages for people are made of.
         */
        get: operations["getSiteFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the plants
         * @description How many plants there are, and of which tags. The cost has a bound, however many there are: the numbers are exact for any number of plants in a file with up to 10,000 tags and for up to 100,000 plants in PostgreSQL, and estimates beyond.
         */
        get: operations["getSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description What went wrong. The error numbers:
         *
         *     | error | name | meaning |
         *     | --- | --- | --- |
         *     | 40000 | malformedRequest | The request is not valid HTTP. |
         *     | 40001 | invalidJson | The body is not valid JSON in UTF-8, or has a key twice in one object. The message says at which byte, from 0. |
         *     | 40002 | invalidPlant | The body is JSON, but not a valid plant. |
         *     | 40003 | repeatedHeader | A header field that may come once came more than once. |
         *     | 40004 | invalidHeader | A header field is missing or has a value that is not allowed. |
         *     | 40005 | invalidParameter | A parameter of the path or the query is unknown or has a value that is not allowed. |
         *     | 40101 | missingToken | No bearer token was sent. |
         *     | 40102 | invalidToken | The token is unknown, malformed, expired or revoked. |
         *     | 40301 | insufficientScope | The token does not have the scope that the operation needs. |
         *     | 40401 | unknownPath | There is nothing at this path. |
         *     | 40402 | unknownPlant | There is no plant with the id. |
         *     | 40501 | methodNotAllowed | The path does not have this method. |
         *     | 40801 | requestTimeout | The request did not arrive in time. |
         *     | 40901 | idTaken | Another plant has this id. |
         *     | 41201 | preconditionFailed | The plant does not meet If-Match or If-None-Match; nothing was changed. |
         *     | 41301 | bodyTooLarge | The body is longer than allowed. |
         *     | 41501 | unsupportedMediaType | The body is not sent as UTF-8 application/json. |
         *     | 41502 | unsupportedContentEncoding | The body is compressed. |
         *     | 41701 | expectationFailed | The Expect header field asks for something unknown. |
         *     | 42201 | idempotencyKeyReused | The Idempotency-Key was used with another plant. |
         *     | 43101 | headerFieldsTooLarge | The header fields are too long or too many. |
         *     | 50001 | internalError | The server failed; its log says why under the request id. |
         *     | 50101 | unknownMethod | The method is not known to this server. |
         *     | 50102 | unknownTransferCoding | The transfer coding is not known to this server. |
         *     | 50301 | overloaded | Too many requests are waiting; nothing was done, try again. |
         *     | 50302 | storeUnavailable | The store cannot answer. A write may or may not have been done. |
         *     | 50303 | shuttingDown | The server is shutting down; nothing was done, try again. |
         *     | 50304 | storeFull | The disk is full; nothing was done. |
         *     | 50305 | storeAway | The database cannot be reached; nothing was done, try again. |
         */
        Error: {
            /**
             * Format: int32
             * @description Error number
             * @example 40002
             */
            error: number;
            /**
             * @description Error message text
             * @example id: is missing
             */
            message: string;
        };
        /** @description That the service is well */
        Health: {
            /**
             * @description Always `ok`; a service that is not well answers with an Error
             * @constant
             */
            status: "ok";
        };
        /** @description Where everything is. */
        Home: {
            /** @description A path for each name */
            links: {
                docs: string;
                health: string;
                openapi: string;
                plants: string;
                summary: string;
            };
            title: string;
            version: string;
        };
        /** @description A plant to be created, with its id */
        NewPlant: components["schemas"]["Plant"] & {
            /**
             * Format: int64
             * @description Identification number of the plant
             * @example 1
             * @example -7
             * @example 9223372036854776000
             */
            id: bigint;
        };
        /** @description A plant. Its name and tag are any Unicode text, line breaks and emoji included, but for the NUL character. Unpaired surrogates (U+D800 to U+DFFF) are refused as well, as UTF-8 has no bytes for them. The patterns do not say so: there is no way to that every tool reads. */
        Plant: {
            /**
             * @description The name of the plant
             * @example Monstera deliciosa
             */
            name: string;
            /**
             * @description Tag to specify the type
             * @example aroid
             */
            tag?: string;
        };
        /** @description A plant that is kept, with its id */
        StoredPlant: {
            /**
             * Format: int64
             * @description Identification number of the plant
             * @example 1
             */
            id: bigint;
            /** @description The name of the plant */
            name: string;
            /** @description Tag to specify the type */
            tag?: string;
        };
        /** @description How many plants there are, and of which tags. */
        Summary: {
            /** @description False when the numbers are estimates; a tag may be missing then */
            isExact: boolean;
            /** @description All plants, those without a tag included */
            plants: number;
            /** @description The tags that most plants have, most plants first */
            tags: {
                plants: number;
                tag: string;
            }[];
        };
    };
    responses: {
        /** @description The request is malformed, or something in it is not valid. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is longer than 65,536 bytes, or a chunk extension of it is longer than allowed. */
        BodyTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The Expect header field asks for something other than 100-continue. */
        ExpectationFailed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The token does not have the scope that the operation needs. */
        Forbidden: {
            headers: {
                /**
                 * @description The challenge; its `scope` names what is needed.
                 * @example Bearer realm="plantstore", error="insufficient_scope", scope="plants:write"
                 */
                "WWW-Authenticate": string;
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The header fields are too long or too many. */
        HeaderFieldsTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Yes. */
        Health: {
            headers: {
                /** @description The answer holds for this moment only. */
                "Cache-Control": "no-store";
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Health"];
            };
        };
        /** @description The server failed. Its log says why, under the request id of the header. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request is not valid HTTP. */
        MalformedRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The method or the transfer coding is not known to this server. */
        NotImplemented: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The plant does not meet the If-Match or If-None-Match of the request, so nothing was changed. */
        PreconditionFailed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request did not arrive in time. */
        RequestTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description No valid token was sent (RFC 6750, section 3). */
        Unauthorized: {
            headers: {
                /**
                 * @description The challenge. With `error="invalid_token"` when a token came that does not hold.
                 * @example Bearer realm="plantstore"
                 */
                "WWW-Authenticate": string;
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service cannot answer now. For a write, `storeUnavailable` means that the outcome is unknown; any other number means that nothing was done. */
        Unavailable: {
            headers: {
                /**
                 * @description Seconds to wait before trying again.
                 * @example 1
                 */
                "Retry-After": string;
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description There is no file with the name. */
        UnknownFile: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description There is no plant with the id. */
        UnknownPlant: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is not sent as plain UTF-8 `application/json`. */
        UnsupportedMediaType: {
            headers: {
                /** @description The media type that is understood. Sent when another one came. */
                Accept?: "application/json";
                /** @description The content coding that is understood. Sent when another one came. */
                "Accept-Encoding"?: "identity";
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /** @description Only plants with a greater id than this */
        After: bigint;
        /** @description Makes a repeated request safe. Within 24 hours the same key, from the same token and with the same plant (id, name and tag), gets the answer of the first request that created the plant, with `Idempotency-Replayed: true`; with another plant it is refused with 422. A request that was refused leaves no key behind. */
        IdempotencyKey: string;
        /** @description ETags (RFC 9110, section 13.1.1), one of which must be the plant's, or `*` for any plant */
        IfMatch: string;
        /** @description ETags (RFC 9110, section 13.1.2), none of which may be the plant's for it to be sent or changed, or `*` for no plant at all */
        IfNoneMatch: string;
        /** @description How many plants a page may have */
        Limit: number;
        /** @description Only plants whose name begins with this, upper and lower case alike in every script (compared in NFKC). It has no NUL and no unpaired surrogate. */
        NamePrefix: string;
        /**
         * @description Identification number of the plant, in decimal digits without leading zeros
         * @example 1
         */
        PlantId: bigint;
        /** @description Only plants with exactly this tag, which has no NUL and no unpaired surrogate */
        Tag: string;
    };
    requestBodies: never;
    headers: {
        /** @description What the page may load; nothing from elsewhere. */
        ContentSecurityPolicy: string;
        /**
         * @description Names what the plant is now; equal for equal plants, different for different ones. A strong validator.
         * @example "4mq0WUJ1kZ2yJmW2s8C5bA"
         */
        ETag: string;
        /**
         * @description Names this request; the server's log has the same name.
         * @example k3x9q2mz-1
         */
        RequestId: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getHome: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page, or the links. */
            200: {
                headers: {
                    "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                    /** @description A page that is left tells nobody where its reader was. */
                    "Referrer-Policy"?: "no-referrer";
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Home"];
                    "text/html": string;
                };
            };
            400: components["responses"]["MalformedRequest"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDocs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                    /** @description A page that is left tells nobody where its reader was. */
                    "Referrer-Policy"?: "no-referrer";
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            400: components["responses"]["MalformedRequest"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    getLivez: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Health"];
            400: components["responses"]["MalformedRequest"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOpenapiJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The OpenAPI document. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What the service is */
                        info: Record<string, never>;
                        /** @description The version of OpenAPI */
                        openapi: string;
                        /** @description Every operation, by path and method */
                        paths: Record<string, never>;
                    };
                };
            };
            400: components["responses"]["MalformedRequest"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOpenapiYaml: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The OpenAPI document. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/yaml": unknown;
                };
            };
            400: components["responses"]["MalformedRequest"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPlants: {
        parameters: {
            query?: {
                /** @description Only plants with a greater id than this */
                after?: components["parameters"]["After"];
                /** @description How many plants a page may have */
                limit?: components["parameters"]["Limit"];
                /** @description Only plants whose name begins with this, upper and lower case alike in every script (compared in NFKC). It has no NUL and no unpaired surrogate. */
                name?: components["parameters"]["NamePrefix"];
                /** @description Only plants with exactly this tag, which has no NUL and no unpaired surrogate */
                tag?: components["parameters"]["Tag"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of plants. */
            200: {
                headers: {
                    /** @description Where the next page is, as in `</plants?after=7&limit=100>; rel="next"`; it begins with the path of the server's public URL where that has one. Absent on the last page. */
                    Link?: string;
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredPlant"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    createPlant: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeated request safe. Within 24 hours the same key, from the same token and with the same plant (id, name and tag), gets the answer of the first request that created the plant, with `Idempotency-Replayed: true`; with another plant it is refused with 422. A request that was refused leaves no key behind. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description Plant to add to the store */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPlant"];
            };
        };
        responses: {
            /** @description plant response */
            200: {
                headers: {
                    /** @description Sent with the value `true` when this is the answer to an earlier request with the same Idempotency-Key. */
                    "Idempotency-Replayed"?: "true";
                    /**
                     * @description Where the plant is kept, on the server that was asked; it begins with the path of the server's public URL where that has one.
                     * @example /plants/1
                     */
                    Location: string;
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plant"];
                };
            };
            /** @description unexpected error */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            /** @description The id is taken; the plant that has it stays as it was. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            /** @description The Idempotency-Key was used before, with another plant. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPlant: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags (RFC 9110, section 13.1.1), one of which must be the plant's, or `*` for any plant */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description ETags (RFC 9110, section 13.1.2), none of which may be the plant's for it to be sent or changed, or `*` for no plant at all */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Identification number of the plant, in decimal digits without leading zeros
                 * @example 1
                 */
                id: components["parameters"]["PlantId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plant. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredPlant"];
                };
            };
            /** @description The plant is as it was when the client got one of the ETags it sent. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["UnknownPlant"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    replacePlant: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags (RFC 9110, section 13.1.1), one of which must be the plant's, or `*` for any plant */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description ETags (RFC 9110, section 13.1.2), none of which may be the plant's for it to be sent or changed, or `*` for no plant at all */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Identification number of the plant, in decimal digits without leading zeros
                 * @example 1
                 */
                id: components["parameters"]["PlantId"];
            };
            cookie?: never;
        };
        /** @description What the plant is to be */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Plant"];
            };
        };
        responses: {
            /** @description The plant as it is now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plant"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["UnknownPlant"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    deletePlant: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags (RFC 9110, section 13.1.1), one of which must be the plant's, or `*` for any plant */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description ETags (RFC 9110, section 13.1.2), none of which may be the plant's for it to be sent or changed, or `*` for no plant at all */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Identification number of the plant, in decimal digits without leading zeros
                 * @example 1
                 */
                id: components["parameters"]["PlantId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plant is gone. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["UnknownPlant"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    getReadyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Health"];
            400: components["responses"]["MalformedRequest"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSiteFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags (RFC 9110, section 13.1.2), none of which may be the plant's for it to be sent or changed, or `*` for no plant at all */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The name of the file
                 * @example style.css
                 */
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    /** @description A browser may keep the file, but asks each time whether it still holds. */
                    "Cache-Control": "no-cache";
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/css": string;
                    "text/javascript": string;
                };
            };
            /** @description The file is still what one of the ETags in If-None-Match names. */
            304: {
                headers: {
                    /** @description A browser may keep the file, but asks each time whether it still holds. */
                    "Cache-Control": "no-cache";
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            404: components["responses"]["UnknownFile"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSummary: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The numbers of this moment. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Summary"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
}

// Generated from openapi.yaml by `npm run generate`. Do not edit.

export interface paths {
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
        /** This document, as JSON */
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
        /** This document, as YAML */
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
        get?: never;
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
         *     | 40001 | invalidJson | The body is not valid JSON in UTF-8, or has a key twice in one object. |
         *     | 40002 | invalidPlant | The body is JSON, but not a valid plant. |
         *     | 40003 | repeatedHeader | A header field that may come once came more than once. |
         *     | 40004 | invalidHeader | A header field is missing or has a value that is not allowed. |
         *     | 40101 | missingToken | No bearer token was sent. |
         *     | 40102 | invalidToken | The token is unknown, malformed, expired or revoked. |
         *     | 40301 | insufficientScope | The token does not have the scope that the operation needs. |
         *     | 40401 | unknownPath | There is nothing at this path. |
         *     | 40501 | methodNotAllowed | The path does not have this method. |
         *     | 40801 | requestTimeout | The request did not arrive in time. |
         *     | 40901 | idTaken | Another plant has this id. |
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
        Health: {
            /** @constant */
            status: "ok";
        };
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
    };
    responses: {
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
    };
    parameters: {
        /**
         * @description Makes a repeated request safe. Within 24 hours the same key, from the same token and with the same plant (id, name and tag), gets the answer of the first request that created the plant, with `Idempotency-Replayed: true`; with another plant it is refused with 422. A request that was refused leaves no key behind.
         * @example 5f2c1f0e-41a5-4f0c-9d0b-2f7a3c1e8b54
         */
        IdempotencyKey: string;
    };
    requestBodies: never;
    headers: {
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
                    "application/json": Record<string, never>;
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
                    "application/yaml": string;
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
    createPlant: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeated request safe. Within 24 hours the same key, from the same token and with the same plant (id, name and tag), gets the answer of the first request that created the plant, with `Idempotency-Replayed: true`; with another plant it is refused with 422. A request that was refused leaves no key behind.
                 * @example 5f2c1f0e-41a5-4f0c-9d0b-2f7a3c1e8b54
                 */
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
                     * @description Where the plant is kept.
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
            /** @description The body is not sent as plain UTF-8 `application/json`. */
            415: {
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
}

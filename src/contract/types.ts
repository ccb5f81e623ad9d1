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
         * Get the home page or links
         * @description Clients that accept `text/html`, such as browsers, get a page that shows and changes the plants. Other clients get links in JSON. A client that sends a token also gets the token's name and scopes.
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
    "/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the changes
         * @description Lists the changes of plants, oldest first. Each change is written in the same transaction as the plant. A client that always continues with the `Link` of the previous page sees every change exactly once, and the changes of one plant in their order. `after=now` gives an empty page, whose `Link` begins with the next change. To copy all plants, request `after=now`, then list the plants, then follow that `Link`. A replacement that changes nothing is not a change. A page can contain fewer changes than `limit`, or none, and still not be the last: the last page has a `Link` to itself, where the next changes will be. Unknown query parameters are rejected.
         *
         *     Clients that accept `text/event-stream` get an endless stream of Server-Sent Events (WHATWG HTML, section 9.2) instead: first the changes after the position, then each later change as it happens. The `id` of an event is the position of the change, `event` is `plant.` and its kind, and `data` is the Change. A comment is sent at least every 15 seconds. A client that reconnects with `Last-Event-ID` misses nothing and gets nothing twice. The stream ends when the token is revoked or expires, when the client reads too slowly, and when the server stops.
         */
        get: operations["listChanges"];
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
         * @description Shows every operation with its parameters, bodies and errors.
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
         * @description Responds with 200 as long as the process can respond, regardless of its store.
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
         * This document as JSON
         * @description The first server in the document is the server's public URL or, without one, the server that received the request.
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
         * This document as YAML
         * @description The document as written, including comments, with the same `servers` as the JSON.
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
         * @description Lists plants in ascending order of id. A page can contain fewer plants than `limit`, or none, and still not be the last: while the response has a `Link` with `rel="next"`, another page follows. Following the links visits every plant that exists throughout exactly once; concurrent changes do not affect this. A plant must match all given filters. Unknown query parameters are rejected. The `ETag` covers the page and its `Link`.
         */
        get: operations["listPlants"];
        put?: never;
        /**
         * Create a plant
         * @description Creates a new plant in the store. The response is sent after the plant is on disk. An id that is taken is refused with 409; the existing plant is never overwritten. With an `Idempotency-Key` the request can be repeated safely.
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
         * @description Returns the plant with this id. With `If-None-Match`, only if the plant has changed; with `If-Match`, only if it has not.
         */
        get: operations["getPlant"];
        /**
         * Replace a plant
         * @description Sets the plant's name and tag. Without a tag in the request, the tag is removed. Never creates a plant. With `If-Match`, replaces the plant only if it has not changed since the client read it, so no update is lost.
         */
        put: operations["replacePlant"];
        post?: never;
        /**
         * Delete a plant
         * @description Deletes the plant. Its id can be used again. Repeating the create with its Idempotency-Key does not restore the plant. With `If-Match`, deletes the plant only if it has not changed since the client read it.
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
         * @description Responds with 503 while the store is unavailable and while the service is starting or stopping.
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
         * Get a file that the pages load
         * @description Returns a style sheet, a script, the logo or the example plants.
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
         * @description Counts the plants, in total and by tag. To bound the cost, the numbers are exact only for a file with up to 10,000 tags (and any number of plants) and for up to 10,000 plants in PostgreSQL. Otherwise they are estimates.
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
export interface webhooks {
    plantCreated: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A plant was created
         * @description Information about a new plant in the store. Sent to the URLs of `plantstore webhook add`, signed as Standard Webhooks 1.0 specifies. Each change is sent until the receiver accepts it, for up to three days, so it may arrive more than once, always with the same `webhook-id`. The changes of one plant arrive in order. A body with a `webhook-id` that begins with `test_` is not a plant in the store.
         */
        post: operations["plantCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    plantDeleted: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A plant was deleted
         * @description The plant before the change. Sent like `plantCreated`.
         */
        post: operations["plantDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    plantReplaced: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A plant was replaced
         * @description The plant after the change. Sent like `plantCreated`.
         */
        post: operations["plantReplaced"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description The token of the request */
        Caller: {
            /** @description When the token expires (RFC 3339). Absent if it does not expire. */
            expires?: string;
            /** @description The id of the token; reveals nothing about its secret */
            id: string;
            /** @description The name of the token, or the subject of a JWT */
            name: string;
            /**
             * @description What the token may do
             * @example [
             *       "plants:read",
             *       "plants:write"
             *     ]
             */
            scopes: string[];
        };
        /** @description A change of a plant */
        Change: {
            /** @description The id of the token that was used; for a JWT, an id made from its issuer and subject. Absent if a command made the change. */
            callerId?: string;
            /**
             * @description What happened to the plant
             * @enum {string}
             */
            kind: "created" | "replaced" | "deleted";
            /** @description The plant after the change; if it was deleted, the plant before. */
            plant: components["schemas"]["StoredPlant"];
            /** @description Where the change is in the log. Opaque; a client may only send it back in `after`. */
            position: string;
            /** @description When the change was made, by the clock of its server, in UTC (RFC 3339) */
            time: string;
        };
        /**
         * @description What went wrong. The error numbers:
         *
         *     | error | name | meaning |
         *     | --- | --- | --- |
         *     | 40000 | malformedRequest | The request is not valid HTTP. |
         *     | 40001 | invalidJson | The body is not valid JSON in UTF-8, an object repeats a key, or arrays and objects are nested more than 32 deep. The message gives the byte offset, from 0. |
         *     | 40002 | invalidPlant | The body is JSON, but not a valid plant. |
         *     | 40003 | repeatedHeader | A header field that may be sent only once was sent more than once. |
         *     | 40004 | invalidHeader | A header field is missing or has a value that is not allowed. |
         *     | 40005 | invalidParameter | A path or query parameter is unknown or has a value that is not allowed. |
         *     | 40101 | missingToken | No bearer token was sent. |
         *     | 40102 | invalidToken | The token is unknown, malformed, expired or revoked. |
         *     | 40301 | insufficientScope | The token does not have the scope that the operation needs. |
         *     | 40401 | unknownPath | There is nothing at this path. |
         *     | 40402 | unknownPlant | There is no plant with this id. |
         *     | 40501 | methodNotAllowed | The path does not support this method. |
         *     | 40801 | requestTimeout | The request did not arrive in time. |
         *     | 40901 | idTaken | Another plant has this id. |
         *     | 41001 | positionGone | The log of changes does not have this position. |
         *     | 41201 | preconditionFailed | The plant does not meet If-Match or If-None-Match; nothing was changed. |
         *     | 41301 | bodyTooLarge | The body is longer than allowed. |
         *     | 41501 | unsupportedMediaType | The body is not sent as UTF-8 application/json. |
         *     | 41502 | unsupportedContentEncoding | The body is compressed. |
         *     | 41701 | expectationFailed | The Expect header field asks for something other than 100-continue. |
         *     | 42201 | idempotencyKeyReused | The Idempotency-Key was already used with another plant. |
         *     | 42901 | rateLimited | The caller is over the rate limit; nothing was done, try again later. |
         *     | 42902 | tooManyStreams | The token has too many streams of changes; end one of them. |
         *     | 43101 | headerFieldsTooLarge | The header fields are too long or too many. |
         *     | 50001 | internalError | The server failed; its log has the cause under the request id. |
         *     | 50101 | unknownMethod | The method is not known to this server. |
         *     | 50102 | unknownTransferCoding | The transfer coding is not known to this server. |
         *     | 50301 | overloaded | Too many requests are waiting; nothing was done, try again. |
         *     | 50302 | storeUnavailable | The store cannot answer. A write may or may not have been done. |
         *     | 50303 | shuttingDown | The server is shutting down; nothing was done, try again. |
         *     | 50304 | storeFull | The disk is full; nothing was done. |
         *     | 50305 | storeAway | The database cannot be reached; nothing was done, try again. |
         *     | 50306 | issuerAway | The key of the JWT is unknown, and its issuer cannot be reached now; nothing was done, try again. |
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
        /** @description The health check passed */
        Health: {
            /**
             * @description Always `ok`. If the check fails, the response is an Error.
             * @constant
             */
            status: "ok";
        };
        /** @description The paths of the service */
        Home: {
            caller?: components["schemas"]["Caller"];
            /** @description Paths by name */
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
        /** @description A new plant, with its id */
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
        /** @description A plant. Its name and tag are any Unicode text, including line breaks and emoji, without NUL characters. Unpaired surrogates (U+D800 to U+DFFF) are also rejected, because UTF-8 cannot encode them. The patterns do not express this: no expression for it works in every tool. */
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
        /** @description A stored plant, with its id */
        StoredPlant: components["schemas"]["NewPlant"];
        /** @description The number of plants, in total and by tag */
        Summary: {
            /** @description False if the numbers are estimates. Tags may then be missing. */
            isExact: boolean;
            /** @description The total number of plants, with and without a tag */
            plants: number;
            /** @description The most common tags, most common first */
            tags: {
                plants: number;
                tag: string;
            }[];
        };
    };
    responses: {
        /** @description The request is malformed or invalid. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is longer than 65,536 bytes, or its chunk extensions are longer than allowed. */
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
        /** @description The token does not have the required scope. */
        Forbidden: {
            headers: {
                /**
                 * @description The challenge. Its `scope` names the required scope.
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
        /** @description The check passed. */
        Health: {
            headers: {
                /** @description The response must not be stored. */
                "Cache-Control": "no-store";
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Health"];
            };
        };
        /** @description The server failed. Its log has the cause under the id in X-Request-Id. */
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
        /** @description The server does not support the method or the transfer coding. */
        NotImplemented: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The plant does not meet If-Match or If-None-Match. Nothing was changed. */
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
        /** @description The token, or the address of a request without a token, is over the server's rate limit (`--rate-limit`). The request had no effect. Reading a plant counts as one unit, a page as more. */
        TooManyRequests: {
            headers: {
                /**
                 * @description The remaining `r` units, and the `t` seconds to wait.
                 * @example "default";r=0;t=1
                 */
                RateLimit: string;
                /**
                 * @description The limit (draft-ietf-httpapi-ratelimit-headers): `q` units in `w` seconds.
                 * @example "default";q=100;w=1
                 */
                "RateLimit-Policy": string;
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
        /** @description No valid token was sent (RFC 6750, section 3). */
        Unauthorized: {
            headers: {
                /**
                 * @description The challenge, with `error="invalid_token"` if the request has an invalid token.
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
        /** @description No valid token was sent (RFC 6750, section 3). A browser that opened the address gets a page. */
        UnauthorizedToRead: {
            headers: {
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                Vary: components["headers"]["VaryPage"];
                /**
                 * @description The challenge, with `error="invalid_token"` if the request has an invalid token.
                 * @example Bearer realm="plantstore"
                 */
                "WWW-Authenticate": string;
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "text/html": string;
            };
        };
        /** @description The service is temporarily unavailable. After a write, `storeUnavailable` means that the outcome is unknown; after any other error, the request had no effect. */
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
        /** @description There is no file with this name. A browser that opened the address gets a page. */
        UnknownFile: {
            headers: {
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                Vary: components["headers"]["VaryPage"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "text/html": string;
            };
        };
        /** @description There is no plant with this id. */
        UnknownPlant: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is compressed, or is not `application/json` in UTF-8. */
        UnsupportedMediaType: {
            headers: {
                /** @description The supported media type. Sent with error 41501. */
                Accept?: "application/json";
                /** @description The supported content coding. Sent with error 41502. */
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
        /** @description Lists only plants with a greater id */
        After: bigint;
        /**
         * @description The position of a change, or `now`. Lists only changes after it. Without it, the list begins with the oldest change in the log.
         * @example now
         */
        AfterPosition: string;
        /** @description Maximum number of changes in a page */
        ChangesLimit: number;
        /** @description Makes the request safe to repeat. For 24 hours after a request has created a plant, a request with the same key, token (or subject of a JWT) and plant gets the same response, with `Idempotency-Replayed: true`. A request with the same key and another plant gets 422. A rejected request does not use up its key. */
        IdempotencyKey: string;
        /** @description ETags (RFC 9110, section 13.1.1). The plant must have one of them; `*` matches any plant. */
        IfMatch: string;
        /** @description ETags (RFC 9110, section 13.1.2). The plant, page or file must have none of them; `*` matches any. */
        IfNoneMatch: string;
        /** @description Lists only changes of this kind. */
        Kind: "created" | "replaced" | "deleted";
        /** @description The position of the last change that the client has received. Takes precedence over `after`. */
        LastEventId: string;
        /** @description Maximum number of plants in a page */
        Limit: number;
        /** @description Lists only plants whose name begins with this text, ignoring case in every script (compared in NFKC). NUL and unpaired surrogates are rejected. */
        NamePrefix: string;
        /**
         * @description Identification number of the plant, in decimal digits without leading zeros
         * @example 1
         */
        PlantId: bigint;
        /** @description Lists only plants with exactly this tag. NUL and unpaired surrogates are rejected. */
        Tag: string;
        /**
         * @description What happened to the plant (`created`, `replaced`, `deleted`), the position of the change and the id of the webhook. The same each time the change is sent to this webhook.
         * @example created_7-mh3x2k1a_hook_0123456789ab
         */
        WebhookId: string;
        /**
         * @description `v1,` and, in base64, the HMAC-SHA256 of the id, the timestamp and the body, joined by full stops. The key is the secret without `whsec_`, decoded from base64. For 24 hours after `plantstore webhook rotate` there are two signatures, separated by a space.
         * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
         */
        WebhookSignature: string;
        /**
         * @description When the request was sent, in seconds since 1970
         * @example 1795431160
         */
        WebhookTimestamp: string;
    };
    requestBodies: never;
    headers: {
        /** @description Allows the page to load resources only from this server. */
        ContentSecurityPolicy: string;
        /**
         * @description A strong validator, equal for equal content and different for different content.
         * @example "4mq0WUJ1kZ2yJmW2s8C5bA"
         */
        ETag: string;
        /** @description The page sends no Referer. */
        ReferrerPolicy: "no-referrer";
        /**
         * @description The id of this request, which is also in the server's log.
         * @example k3x9q2mz-1
         */
        RequestId: string;
        /**
         * @description Names `Accept` and `Authorization`, which decide between the Error and the page.
         * @example Origin, Accept, Authorization
         */
        VaryPage: string;
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
            /** @description The page or the links. */
            200: {
                headers: {
                    "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                    "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Home"];
                    "text/html": string;
                };
            };
            400: components["responses"]["MalformedRequest"];
            401: components["responses"]["Unauthorized"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    listChanges: {
        parameters: {
            query?: {
                /**
                 * @description The position of a change, or `now`. Lists only changes after it. Without it, the list begins with the oldest change in the log.
                 * @example now
                 */
                after?: components["parameters"]["AfterPosition"];
                /** @description Lists only changes of this kind. */
                kind?: components["parameters"]["Kind"];
                /** @description Maximum number of changes in a page */
                limit?: components["parameters"]["ChangesLimit"];
            };
            header?: {
                /** @description The position of the last change that the client has received. Takes precedence over `after`. */
                "Last-Event-ID"?: components["parameters"]["LastEventId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of changes. */
            200: {
                headers: {
                    /** @description The next page, such as `</changes?after=7-mh3x2k1a&limit=100>; rel="next"`. Every page has it, because later changes are on that page; a stream does not. Starts with the path of the server's public URL, if that URL has a path. */
                    Link?: string;
                    /** @description Sent with a stream only. Tells nginx not to buffer the events. */
                    "X-Accel-Buffering"?: "no";
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Change"][];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["UnauthorizedToRead"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            /** @description The server does not have this position: changes are kept for a limited time, and a restored backup begins a new log. Copy all plants again. */
            410: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
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
                    "Referrer-Policy": components["headers"]["ReferrerPolicy"];
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
            429: components["responses"]["TooManyRequests"];
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
                        /** @description About the service */
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
            429: components["responses"]["TooManyRequests"];
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
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPlants: {
        parameters: {
            query?: {
                /** @description Lists only plants with a greater id */
                after?: components["parameters"]["After"];
                /** @description Maximum number of plants in a page */
                limit?: components["parameters"]["Limit"];
                /** @description Lists only plants whose name begins with this text, ignoring case in every script (compared in NFKC). NUL and unpaired surrogates are rejected. */
                name?: components["parameters"]["NamePrefix"];
                /** @description Lists only plants with exactly this tag. NUL and unpaired surrogates are rejected. */
                tag?: components["parameters"]["Tag"];
            };
            header?: {
                /** @description ETags (RFC 9110, section 13.1.2). The plant, page or file must have none of them; `*` matches any. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of plants. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    /** @description The next page, such as `</plants?after=7&limit=100>; rel="next"`. Starts with the path of the server's public URL, if that URL has a path. Absent on the last page. */
                    Link?: string;
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredPlant"][];
                };
            };
            /** @description The page still has one of the ETags in If-None-Match. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["UnauthorizedToRead"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
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
                /** @description Makes the request safe to repeat. For 24 hours after a request has created a plant, a request with the same key, token (or subject of a JWT) and plant gets the same response, with `Idempotency-Replayed: true`. A request with the same key and another plant gets 422. A rejected request does not use up its key. */
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
                    /** @description `true` if an earlier request with the same Idempotency-Key created the plant; otherwise absent. */
                    "Idempotency-Replayed"?: "true";
                    /**
                     * @description The path of the plant. Starts with the path of the server's public URL, if that URL has a path.
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
            /** @description The id is taken; the existing plant is unchanged. */
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
            /** @description The Idempotency-Key was already used with another plant. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["TooManyRequests"];
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
                /** @description ETags (RFC 9110, section 13.1.1). The plant must have one of them; `*` matches any plant. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description ETags (RFC 9110, section 13.1.2). The plant, page or file must have none of them; `*` matches any. */
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
            /** @description The plant still has one of the ETags in If-None-Match. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["UnauthorizedToRead"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["UnknownPlant"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
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
                /** @description ETags (RFC 9110, section 13.1.1). The plant must have one of them; `*` matches any plant. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description ETags (RFC 9110, section 13.1.2). The plant, page or file must have none of them; `*` matches any. */
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
        /** @description The new name and tag */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Plant"];
            };
        };
        responses: {
            /** @description The plant was replaced. */
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
            429: components["responses"]["TooManyRequests"];
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
                /** @description ETags (RFC 9110, section 13.1.1). The plant must have one of them; `*` matches any plant. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description ETags (RFC 9110, section 13.1.2). The plant, page or file must have none of them; `*` matches any. */
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
            /** @description The plant was deleted. */
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
            429: components["responses"]["TooManyRequests"];
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
                /** @description ETags (RFC 9110, section 13.1.2). The plant, page or file must have none of them; `*` matches any. */
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
                    /** @description Browsers may store the file, but must revalidate it before each use. */
                    "Cache-Control": "no-cache";
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "image/svg+xml": string;
                    "text/css": string;
                    "text/javascript": string;
                };
            };
            /** @description The file still has the ETag in If-None-Match. */
            304: {
                headers: {
                    /** @description Browsers may store the file, but must revalidate it before each use. */
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
            429: components["responses"]["TooManyRequests"];
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
            /** @description The current numbers. */
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
            401: components["responses"]["UnauthorizedToRead"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    plantCreated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description What happened to the plant (`created`, `replaced`, `deleted`), the position of the change and the id of the webhook. The same each time the change is sent to this webhook.
                 * @example created_7-mh3x2k1a_hook_0123456789ab
                 */
                "webhook-id": components["parameters"]["WebhookId"];
                /**
                 * @description `v1,` and, in base64, the HMAC-SHA256 of the id, the timestamp and the body, joined by full stops. The key is the secret without `whsec_`, decoded from base64. For 24 hours after `plantstore webhook rotate` there are two signatures, separated by a space.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": components["parameters"]["WebhookSignature"];
                /**
                 * @description When the request was sent, in seconds since 1970
                 * @example 1795431160
                 */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPlant"];
            };
        };
        responses: {
            /** @description The receiver has accepted the change. The server does not send it again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The receiver is gone. The server pauses the webhook. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The receiver has not accepted the change. The server sends it again later, and not before the time in `Retry-After`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    plantDeleted: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description What happened to the plant (`created`, `replaced`, `deleted`), the position of the change and the id of the webhook. The same each time the change is sent to this webhook.
                 * @example created_7-mh3x2k1a_hook_0123456789ab
                 */
                "webhook-id": components["parameters"]["WebhookId"];
                /**
                 * @description `v1,` and, in base64, the HMAC-SHA256 of the id, the timestamp and the body, joined by full stops. The key is the secret without `whsec_`, decoded from base64. For 24 hours after `plantstore webhook rotate` there are two signatures, separated by a space.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": components["parameters"]["WebhookSignature"];
                /**
                 * @description When the request was sent, in seconds since 1970
                 * @example 1795431160
                 */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPlant"];
            };
        };
        responses: {
            /** @description The receiver has accepted the change. The server does not send it again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The receiver is gone. The server pauses the webhook. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The receiver has not accepted the change. The server sends it again later, and not before the time in `Retry-After`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    plantReplaced: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description What happened to the plant (`created`, `replaced`, `deleted`), the position of the change and the id of the webhook. The same each time the change is sent to this webhook.
                 * @example created_7-mh3x2k1a_hook_0123456789ab
                 */
                "webhook-id": components["parameters"]["WebhookId"];
                /**
                 * @description `v1,` and, in base64, the HMAC-SHA256 of the id, the timestamp and the body, joined by full stops. The key is the secret without `whsec_`, decoded from base64. For 24 hours after `plantstore webhook rotate` there are two signatures, separated by a space.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": components["parameters"]["WebhookSignature"];
                /**
                 * @description When the request was sent, in seconds since 1970
                 * @example 1795431160
                 */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPlant"];
            };
        };
        responses: {
            /** @description The receiver has accepted the change. The server does not send it again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The receiver is gone. The server pauses the webhook. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The receiver has not accepted the change. The server sends it again later, and not before the time in `Retry-After`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}

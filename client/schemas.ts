// Generated from openapi.yaml by `npm run generate`. Do not edit.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
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
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;

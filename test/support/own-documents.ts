// Users' documents, whose POST /plants defines a plant.

/** The sample that whoever has such a document has copied, as it is. */
export const sample = `openapi: 3.1.0
info:
  title: OpenAPI Plant Store
  description: A sample API that uses a plant store as an example
  license:
    name: MIT
  version: 1.0.0
servers:
  - url: http://sandbox.example.com
security:
  - bearerAuth: []
paths:
  /plants:
    post:
      description: Creates a new plant in the store
      requestBody:
        description: Plant to add to the store
        content:
          application/json:
            schema:
              $ref: '#/components/schemas/NewPlant'
        required: true
      responses:
        '200':
          description: plant response
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Plant'
        '400':
          description: unexpected error
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Error'
components:
  schemas:
    Plant:
      required:
        - name
      type: object
      properties:
        name:
          description: The name of the plant
          type: string
        tag:
          description: Tag to specify the type
          type: string
    NewPlant:
      allOf:
        - $ref: '#/components/schemas/Plant'
        - required:
            - id
          type: object
          properties:
            id:
              description: Identification number of the plant
              type: integer
              format: int64
    Error:
      required:
        - error
        - message
      type: object
      properties:
        error:
          type: integer
          format: int32
        message:
          type: string
  securitySchemes:
    bearerAuth:
      type: http
      scheme: bearer
`

/** The sample with further properties of a plant, in YAML, each indented by eight spaces. */
export function withProperties(properties: string, document = sample): string {
  const place = '          description: Tag to specify the type\n          type: string\n'
  return document.replace(place, () => `${place}${properties}`)
}

/** What a gardener adds. */
export const gardening = `        location:
          type: string
          description: Where the plant stands
          maxLength: 50
        heightCm:
          type: number
          exclusiveMinimum: 0
        wateredAt:
          type: string
          format: date-time
`

/** What a tester adds. */
export const oddities = `        mood:
          type: string
          enum: [happy, thirsty]
        serial:
          type: integer
          format: int64
        größe:
          type: [integer, 'null']
          minimum: 1
        __proto__:
          type: boolean
        constructor:
          type: array
          items:
            type: object
            required: [from]
            properties:
              from: { type: string }
              to: { type: string }
        id2:
          type: integer
`

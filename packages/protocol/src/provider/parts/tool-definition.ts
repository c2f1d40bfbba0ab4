import { type Static, Type } from 'typebox';
import { ProviderJsonObject } from './json-object.js';
import { ProviderToolName } from './tool-name.js';

export const ProviderToolDefinition = Type.Object(
  {
    name: ProviderToolName,
    description: Type.String(),
    /** A JSON Schema. The empty object is legal and means that the tool takes no arguments. */
    parameters: ProviderJsonObject,
    timeout: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Milliseconds until a call is given up; 60 s, if absent.' }),
    ),
  },
  { $id: 'ProviderToolDefinition', description: 'A tool that a provider offers to the model.' },
);
export type ProviderToolDefinition = Static<typeof ProviderToolDefinition>;

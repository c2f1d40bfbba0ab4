import { type Static, Type } from 'typebox';
import { PROVIDER_PROTOCOL_VERSION } from '../limits.js';
import { ProviderConcurrency } from '../parts/concurrency.js';
import { ProviderHooks } from '../parts/hooks.js';
import { ProviderJsonObject } from '../parts/json-object.js';
import { ProviderName } from '../parts/name.js';
import { ProviderToolDefinition } from '../parts/tool-definition.js';

export const ProviderHelloMessage = Type.Object(
  {
    type: Type.Literal('hello'),
    name: ProviderName,
    /** Ask `speaksOurVersion` in ../rules.ts first: another version has its own error, and perhaps another shape. */
    protocolVersion: Type.Literal(PROVIDER_PROTOCOL_VERSION),
    session: Type.Optional(
      Type.String({
        description: 'The id of a session, or `all`. Absent: the one that the provider was started for or paired with.',
      }),
    ),
    instance: Type.Optional(ProviderName),
    reconnectToken: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'From the last `hello.ack`, after a break; null if there is none yet.',
      }),
    ),
    startup_context: Type.Optional(Type.String({ description: 'Given to the model once, when the session starts.' })),
    metadata: Type.Optional(ProviderJsonObject),
    tools: Type.Optional(Type.Array(ProviderToolDefinition)),
    hooks: Type.Optional(ProviderHooks),
    subscribe: Type.Optional(
      Type.Array(Type.String(), { description: 'Names of session events. Names that are not known are legal.' }),
    ),
    context: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Given to the model with every prompt; null or empty for none.',
      }),
    ),
    concurrency: Type.Optional(ProviderConcurrency),
  },
  { $id: 'ProviderHelloMessage', description: 'Binds to a session and registers everything the provider brings.' },
);
export type ProviderHelloMessage = Static<typeof ProviderHelloMessage>;

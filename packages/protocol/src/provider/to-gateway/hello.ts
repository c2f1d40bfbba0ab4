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
    /** A session id, or `all`. */
    session: Type.Optional(Type.String()),
    instance: Type.Optional(ProviderName),
    /** Null from providers that keep the token in a variable and have none yet. */
    reconnectToken: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    /** Given to the model once, when the session starts. */
    startup_context: Type.Optional(Type.String()),
    metadata: Type.Optional(ProviderJsonObject),
    tools: Type.Optional(Type.Array(ProviderToolDefinition)),
    hooks: Type.Optional(ProviderHooks),
    /** Names we do not know are legal, so that a newer provider can still bind. */
    subscribe: Type.Optional(Type.Array(Type.String())),
    /** Given to the model with every prompt; null or empty for none. */
    context: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    concurrency: Type.Optional(ProviderConcurrency),
  },
  { $id: 'ProviderHelloMessage', description: 'Binds to a session and registers everything the provider brings.' },
);
export type ProviderHelloMessage = Static<typeof ProviderHelloMessage>;

import { type Static, Type } from 'typebox';
import { ProviderJsonObject } from '../parts/json-object.js';
import { ProviderPushLevel } from '../parts/push-level.js';
import { ProviderText } from '../parts/text.js';

const pushMembers = {
  type: Type.Literal('push'),
  stream: Type.Optional(
    Type.String({
      pattern: '^[^@]+$',
      description:
        'The name of the provider when absent. No `@`: that sign separates stream from provider in `stream.query`.',
    }),
  ),
  sessionId: Type.Optional(
    Type.String({ description: 'The session that hears it; a provider that is bound to all must name it.' }),
  ),
  broadcast: Type.Optional(Type.Boolean({ description: 'To every session at once, for providers bound to all.' })),
  metadata: Type.Optional(ProviderJsonObject),
};

export const ProviderEventPush = Type.Object(
  {
    ...pushMembers,
    level: ProviderPushLevel,
    event: ProviderText,
    /** Forbidden, not ignored: otherwise a prompt at the wrong level would pass as this shape. */
    prompt: Type.Optional(Type.Never({ description: 'Not with an event: a prompt always starts a turn.' })),
  },
  { $id: 'ProviderEventPush', description: 'Something happened; `level` says how far the news goes.' },
);
export type ProviderEventPush = Static<typeof ProviderEventPush>;

export const ProviderPromptPush = Type.Object(
  {
    ...pushMembers,
    /** A prompt always starts a turn, so no other level makes sense. */
    level: Type.Literal('inject'),
    event: Type.Optional(ProviderText),
    prompt: ProviderText,
  },
  { $id: 'ProviderPromptPush', description: 'Starts a turn with this prompt.' },
);
export type ProviderPromptPush = Static<typeof ProviderPromptPush>;

export const ProviderPushMessage = Type.Union([ProviderEventPush, ProviderPromptPush], {
  $id: 'ProviderPushMessage',
  description: 'News from a provider that nobody asked for: an event, or a prompt.',
});
export type ProviderPushMessage = Static<typeof ProviderPushMessage>;

import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';
import { GatewayErrorCode } from '../error-codes.js';

export const ProviderErrorMessage = Type.Object(
  {
    type: Type.Literal('error'),
    code: Choice(Object.values(GatewayErrorCode), { description: 'One of the error codes of the gateway.' }),
    message: Type.String({ description: 'What was wrong and what to do.' }),
    replyTo: Type.Optional(Type.String({ description: 'The type of the message that was refused.' })),
    providerId: Type.Optional(Type.String({ description: 'Who was refused, if it is bound.' })),
    sessionId: Type.Optional(Type.String()),
    requestId: Type.Optional(Type.String({ description: 'That of the refused update.' })),
  },
  { $id: 'ProviderErrorMessage', description: 'A message was refused; `code` says what to do.' },
);
export type ProviderErrorMessage = Static<typeof ProviderErrorMessage>;

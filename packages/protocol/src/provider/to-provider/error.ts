import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';
import { GatewayErrorCode } from '../error-codes.js';

export const ProviderErrorMessage = Type.Object(
  {
    type: Type.Literal('error'),
    code: Choice(Object.values(GatewayErrorCode)),
    message: Type.String(),
    /** The type of the offending message, as it was sent: it may be one that we do not know. */
    replyTo: Type.Optional(Type.String()),
    providerId: Type.Optional(Type.String()),
    sessionId: Type.Optional(Type.String()),
    requestId: Type.Optional(Type.String()),
  },
  { $id: 'ProviderErrorMessage', description: 'A message was refused; `code` says what to do.' },
);
export type ProviderErrorMessage = Static<typeof ProviderErrorMessage>;

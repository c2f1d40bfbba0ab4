/** The frames of JSON-RPC 2.0. */
import { type Static, Type } from 'typebox';
import { MapOf } from './schema/define.js';

export const JsonRpcRequest = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Number({ description: 'Chosen by the sender; the answer has the same.' }),
    method: Type.String({ description: 'The name of the command.' }),
    params: Type.Optional(MapOf(Type.Unknown(), { description: 'What it takes.' })),
  },
  { $id: 'JsonRpcRequest', description: 'A call that must be answered exactly once.' },
);
export type JsonRpcRequest = Static<typeof JsonRpcRequest>;

export const JsonRpcNotification = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    method: Type.String({ description: 'The name of the notification.' }),
    params: Type.Optional(MapOf(Type.Unknown(), { description: 'What it carries.' })),
  },
  { $id: 'JsonRpcNotification', description: 'A call that must not be answered.' },
);
export type JsonRpcNotification = Static<typeof JsonRpcNotification>;

export const JsonRpcSuccessResponse = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Number({ description: 'That of the request.' }),
    result: Type.Unknown({ description: 'What it gives.' }),
  },
  { $id: 'JsonRpcSuccessResponse', description: 'The answer to a request.' },
);
export type JsonRpcSuccessResponse = Static<typeof JsonRpcSuccessResponse>;

export const JsonRpcErrorObject = Type.Object(
  {
    code: Type.Integer({ description: 'One of the codes of this protocol.' }),
    message: Type.String(),
    data: Type.Optional(Type.Unknown({ description: 'More, for programs; each code says what.' })),
  },
  { $id: 'JsonRpcErrorObject', description: 'Why a request failed.' },
);
export type JsonRpcErrorObject = Static<typeof JsonRpcErrorObject>;

export const JsonRpcErrorResponse = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Union([Type.Number(), Type.Null()], { description: 'That of the request.' }),
    error: JsonRpcErrorObject,
  },
  { $id: 'JsonRpcErrorResponse', description: 'The failure of a request; `id` is null when it could not be read.' },
);
export type JsonRpcErrorResponse = Static<typeof JsonRpcErrorResponse>;

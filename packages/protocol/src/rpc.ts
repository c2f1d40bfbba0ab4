/** The frames of JSON-RPC 2.0. */
import { type Static, Type } from 'typebox';
import { MapOf } from './schema/define.js';

export const JsonRpcRequest = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Number({ description: 'Chosen by the sender; the response repeats it.' }),
    method: Type.String({ description: 'The name of the command.' }),
    params: Type.Optional(MapOf(Type.Unknown(), { description: 'The parameters of the command.' })),
  },
  { $id: 'JsonRpcRequest', description: 'A call that the receiver answers exactly once.' },
);
export type JsonRpcRequest = Static<typeof JsonRpcRequest>;

export const JsonRpcNotification = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    method: Type.String({ description: 'The name of the notification.' }),
    params: Type.Optional(MapOf(Type.Unknown(), { description: 'The content of the notification.' })),
  },
  { $id: 'JsonRpcNotification', description: 'A call without an answer.' },
);
export type JsonRpcNotification = Static<typeof JsonRpcNotification>;

export const JsonRpcSuccessResponse = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Number({ description: 'The `id` of the request.' }),
    result: Type.Unknown({ description: 'The result of the command.' }),
  },
  { $id: 'JsonRpcSuccessResponse', description: 'The answer to a request.' },
);
export type JsonRpcSuccessResponse = Static<typeof JsonRpcSuccessResponse>;

export const JsonRpcErrorObject = Type.Object(
  {
    code: Type.Integer({ description: 'One of the codes of this protocol.' }),
    message: Type.String(),
    data: Type.Optional(Type.Unknown({ description: 'Data for programs; its shape depends on the code.' })),
  },
  { $id: 'JsonRpcErrorObject', description: 'Why a request failed.' },
);
export type JsonRpcErrorObject = Static<typeof JsonRpcErrorObject>;

export const JsonRpcErrorResponse = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Union([Type.Number(), Type.Null()], { description: 'The `id` of the request.' }),
    error: JsonRpcErrorObject,
  },
  {
    $id: 'JsonRpcErrorResponse',
    description: 'The failure of a request; `id` is null when the request could not be read.',
  },
);
export type JsonRpcErrorResponse = Static<typeof JsonRpcErrorResponse>;

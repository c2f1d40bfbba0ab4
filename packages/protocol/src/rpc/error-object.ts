import { type Static, Type } from 'typebox';

export const JsonRpcErrorObject = Type.Object(
  { code: Type.Integer(), message: Type.String(), data: Type.Optional(Type.Unknown()) },
  { $id: 'JsonRpcErrorObject', description: 'Why a request failed.' },
);
export type JsonRpcErrorObject = Static<typeof JsonRpcErrorObject>;

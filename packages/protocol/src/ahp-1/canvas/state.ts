/** The state of a canvas: a surface that an extension draws on. Experimental in 1.0. */
import { type Static, Type } from 'typebox';

export const CanvasState = Type.Object(
  {
    instanceId: Type.String(),
    extensionId: Type.String(),
    extensionName: Type.Optional(Type.String()),
    canvasId: Type.String(),
    title: Type.Optional(Type.String()),
    status: Type.Optional(Type.String()),
    url: Type.Optional(Type.String()),
  },
  { $id: 'CanvasState', description: 'A surface that an extension draws on.' },
);
export type CanvasState = Static<typeof CanvasState>;

/** The action of a canvas. */
import { type Static, Type } from 'typebox';
import { CanvasState } from './state.js';

export const CanvasStateChangedAction = Type.Object(
  { type: Type.Literal('canvas/stateChanged'), canvas: CanvasState },
  { $id: 'CanvasStateChangedAction', description: 'The canvas changed; carries all of it.' },
);
export type CanvasStateChangedAction = Static<typeof CanvasStateChangedAction>;

/** Every action of the canvas channel, by its type. */
export const canvasActions = { 'canvas/stateChanged': CanvasStateChangedAction } as const;

export type CanvasActionType = keyof typeof canvasActions;
export type CanvasActionMap = { [Type in CanvasActionType]: Static<(typeof canvasActions)[Type]> };
export type CanvasAction = CanvasActionMap[CanvasActionType];

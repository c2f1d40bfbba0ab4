/** How a canvas changes: as a whole. */
import { reducerOf } from '../reducing.js';
import type { CanvasActionMap } from './actions.js';
import type { CanvasState } from './state.js';

export const canvasReducer = reducerOf<CanvasState, CanvasActionMap>({
  'canvas/stateChanged': (_state, { canvas }) => canvas,
});

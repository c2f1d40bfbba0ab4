import { type Static, Type } from 'typebox';
import { toolCallTarget } from './tool-call-target.js';
import { ToolResultContent } from '../state/tool-result-content.js';

export const SessionToolCallContentChangedAction = Type.Object({ type: Type.Literal('session/toolCallContentChanged'), ...toolCallTarget, content: Type.Array(ToolResultContent) }, { $id: 'SessionToolCallContentChangedAction', description: 'The output so far of a running tool; replaces what was there.' });
export type SessionToolCallContentChangedAction = Static<typeof SessionToolCallContentChangedAction>;

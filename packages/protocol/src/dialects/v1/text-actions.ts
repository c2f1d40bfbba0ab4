/** Streamed content: version 1 appends to one text and one reasoning, and lists only what is neither. */
import type { ActionMap } from '../../actions.js';
import type { ActiveTurn, ResponsePart } from '../../session/turns.js';
import { toolCallAppears } from './tool-call-actions.js';
import { concernsTurn, type StepContext, type Translators, type V1ActionBody } from './translator.js';
import { structuredPartToV1 } from './turns.js';

export const textTranslators: Translators<'session/delta' | 'session/reasoning' | 'session/responsePart'> = {
  'session/delta': (action, step) => appended(action, 'markdown', step),
  'session/reasoning': (action, step) => appended(action, 'reasoning', step),
  'session/responsePart': ({ turnId, part }, step) =>
    concernsTurn(step, turnId) ? partAppears(turnId, part, step) : [],
};

type TextAction = ActionMap['session/delta'] | ActionMap['session/reasoning'];

/**
 * Version 1 has no part ids: whatever it gets is appended, so text that went nowhere must not be sent. Text for an
 * earlier part ends up behind the later ones until the next snapshot.
 */
function appended({ type, turnId, partId, content }: TextAction, kind: ResponsePart['kind'], { before }: StepContext) {
  const turn = before?.activeTurn;
  return turn?.id === turnId && partKind(turn, partId) === kind ? [{ type, turnId, content }] : [];
}

function partKind({ responseParts }: ActiveTurn, partId: string): ResponsePart['kind'] | undefined {
  return responseParts.find((part) => partIdOf(part) === partId)?.kind;
}

function partIdOf(part: ResponsePart): string | undefined {
  if (part.kind === 'toolCall') return part.toolCall.toolCallId;
  return 'id' in part ? part.id : undefined;
}

function partAppears(turnId: string, part: ResponsePart, step: StepContext): readonly V1ActionBody[] {
  if (part.kind === 'toolCall') return toolCallAppears(turnId, part.toolCall, step.memory);
  if (part.kind === 'markdown') return textAppears({ type: 'session/delta', turnId, content: part.content });
  if (part.kind === 'reasoning') return textAppears({ type: 'session/reasoning', turnId, content: part.content });
  return structuredPartToV1(part).map((shown) => ({ type: 'session/responsePart', turnId, part: shown }));
}

function textAppears<Body extends V1ActionBody & { readonly content: string }>(body: Body): readonly Body[] {
  return body.content === '' ? [] : [body];
}

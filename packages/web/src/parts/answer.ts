/** The answer to a permission question: its options, the edited input, and the action. */
import {
  type ChatToolCallConfirmedAction,
  type ConfirmationOption,
  type ToolCallPendingConfirmationState,
  toolInputObject,
} from '@atrium/protocol/ahp-1';
import { messageOf } from '../host/turns.js';

/** The options if the host offers none of its own; the page never sends their ids. */
const PLAIN: readonly ConfirmationOption[] = [
  { id: 'approve', label: 'Approve', kind: 'approve' },
  { id: 'deny', label: 'Deny', kind: 'deny' },
];

export function optionsOf({
  options,
}: Pick<ToolCallPendingConfirmationState, 'options'>): readonly ConfirmationOption[] {
  return options && options.length > 0 ? options : PLAIN;
}

interface Answer {
  readonly call: ToolCallPendingConfirmationState;
  readonly turnId: string;
  readonly option: ConfirmationOption;
  /** The input of the call. */
  readonly asked: string;
  /** The input in the field. */
  readonly input: string;
  /** What to do instead; empty for none. */
  readonly advice: string;
}

export function answerAction({ call, turnId, option, asked, input, advice }: Answer): ChatToolCallConfirmedAction {
  const target = { type: 'chat/toolCallConfirmed' as const, turnId, toolCallId: call.toolCallId };
  const chosen = PLAIN.includes(option) ? {} : { selectedOptionId: option.id };
  if (option.kind === 'approve') {
    const isEdited = call.editable === true && input !== asked;
    return {
      ...target,
      approved: true,
      confirmed: 'user-action',
      ...(isEdited && { editedToolInput: input }),
      ...chosen,
    };
  }
  const words = advice.trim();
  return {
    ...target,
    approved: false,
    reason: 'denied',
    ...(words && { userSuggestion: messageOf({ text: words }) }),
    ...chosen,
  };
}

/** The input of a tool with another text for one of its members. */
export function withMember(input: string, name: string, text: string): string {
  const members = toolInputObject(input);
  return members && name !== '' ? JSON.stringify({ ...members, [name]: text }) : text;
}

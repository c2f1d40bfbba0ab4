/** What `run` answers when a tool asks: nobody sits in front of it, so it was decided beforehand. */
import type { SessionAction, SessionState } from '@atrium/protocol';
import { approve, deny, lastingOption } from '../sessions/confirm.js';
import { callsIn, pendingCalls } from '../sessions/turns.js';

export const APPROVALS = ['reads', 'all', 'none'] as const;
export type Approvals = (typeof APPROVALS)[number];

export interface Decision {
  readonly toolName: string;
  readonly isAllowed: boolean;
  readonly action: SessionAction;
}

const WHY_NOT = 'Nobody is here to allow this. Go on without it, or say what should be run.';

export class Policy {
  readonly #approvals: Approvals;
  /** What was answered already, by call and state: a call may ask twice. */
  readonly #answered = new Set<string>();

  constructor(approvals: Approvals) {
    this.#approvals = approvals;
  }

  /** The answers that are due. Each question is answered once. */
  decide({ activeTurn, serverTools = [] }: SessionState): Decision[] {
    if (!activeTurn) return [];
    const turnId = activeTurn.id;
    const asked = pendingCalls(activeTurn).flatMap((call): Decision[] => {
      if (!this.#isNew(`${call.toolCallId} ask`)) return [];
      // A client's tool may have the name of one of the host's, and then says nothing of what it does.
      const tool = call.toolClientId === undefined ? serverTools.find(({ name }) => name === call.toolName) : undefined;
      // A tool's own question offers to allow the tool for the session. A gate's question does not: a person must answer it.
      const isOfTool = lastingOption(call) !== undefined;
      const isAllowed = this.#allows(isOfTool && tool?.annotations?.readOnlyHint === true);
      const target = { turnId, call };
      const action = isAllowed ? approve(target) : deny(target, { reason: WHY_NOT });
      return [{ toolName: call.toolName, isAllowed, action }];
    });
    const results = callsIn(activeTurn).flatMap((call): Decision[] => {
      if (call.status !== 'pending-result-confirmation' || !this.#isNew(`${call.toolCallId} result`)) return [];
      const isAllowed = this.#approvals === 'all';
      const { toolCallId, toolName } = call;
      const action = { type: 'session/toolCallResultConfirmed' as const, turnId, toolCallId, approved: isAllowed };
      return [{ toolName, isAllowed, action }];
    });
    return [...asked, ...results];
  }

  #allows(isReadOnly: boolean): boolean {
    return this.#approvals === 'all' || (this.#approvals === 'reads' && isReadOnly);
  }

  #isNew(key: string): boolean {
    if (this.#answered.has(key)) return false;
    this.#answered.add(key);
    return true;
  }
}

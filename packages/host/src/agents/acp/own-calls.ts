/** The calls of one turn that the agent runs itself: shown as far as it tells of them, asked about when it asks. */

import type { AgentTurn, OwnCall, Permit } from '../../core/contracts/agent.js';
import type { ToolConfirmation } from '../../core/contracts/tool.js';
import { type CallFields, inputOf, nameOf, titleOf } from './call-fields.js';
import { comingEdits, resultContent } from './content.js';
import { CALLS_MAX } from './limits.js';

/** Whether a call is one of a tool of the host; `wasHosts` when it seemed so before. */
type IsHosts = (fields: CallFields, wasHosts?: boolean) => boolean;
type Question = Pick<ToolConfirmation, 'options'>;

interface Seen {
  fields: CallFields;
  /** As it is shown; absent for a call of one of the host's tools, which the host itself shows. */
  call: OwnCall | undefined;
  /** Whether it runs as far as everybody can see, so that nobody can be asked any more. */
  isRunning: boolean;
  isOver: boolean;
  /** While a person or a gate thinks about it. */
  asking: Promise<Permit> | undefined;
}

export class OwnCalls {
  readonly #turn: AgentTurn;
  readonly #isHosts: IsHosts;
  readonly #seen = new Map<string, Seen>();
  readonly #completing: Promise<unknown>[] = [];

  constructor(turn: AgentTurn, isHosts: IsHosts) {
    this.#turn = turn;
    this.#isHosts = isHosts;
  }

  /** The agent tells of a call, or of more of it. The first that is heard of one may be anything. */
  told(fields: CallFields): void {
    const seen = this.#take(fields);
    if (!seen?.call || seen.isOver) return;
    const { status, content } = seen.fields;
    if (status === 'completed' || status === 'failed') return this.#end(seen);
    // Before it runs, a person may still be asked, and what is shown are only its plans.
    if (status !== 'in_progress' || !content || seen.asking) return;
    this.#runs(seen);
    seen.call.progress(resultContent(content, undefined));
  }

  /** The agent wants to know whether a call may run. Undefined: it is the host's own business, which asks by itself. */
  async ask(fields: CallFields, question: Question): Promise<Permit | undefined> {
    const seen = this.#take(fields);
    if (!seen) return { kind: 'denied', reason: 'there are too many calls in this turn' };
    // By all that is known now: a call that began as one of the host's need not be asked about as one.
    if (this.#isHosts(seen.fields, seen.call === undefined)) return undefined;
    const asking = permitFor(this.#askable(seen), seen.fields, question);
    seen.asking = asking;
    const permit = await asking.finally(() => {
      seen.asking = undefined;
    });
    if (permit.kind === 'granted') seen.isRunning = true;
    else seen.isOver = true;
    return permit;
  }

  /** The turn is over: a call whose end was never told did not end well, as far as anybody knows. */
  async end(): Promise<void> {
    for (const seen of this.#seen.values()) if (seen.call && !seen.isOver) this.#end(seen);
    await Promise.allSettled(this.#completing);
  }

  #take(fields: CallFields): Seen | undefined {
    const known = this.#seen.get(fields.toolCallId);
    if (known) {
      known.fields = { ...known.fields, ...fields };
      return known;
    }
    if (this.#seen.size >= CALLS_MAX) return undefined;
    const call = this.#isHosts(fields) ? undefined : this.#start(fields, fields.toolCallId);
    const seen: Seen = { fields, call, isRunning: false, isOver: false, asking: undefined };
    this.#seen.set(fields.toolCallId, seen);
    return seen;
  }

  #start(fields: CallFields, id?: string): OwnCall {
    const start = { name: nameOf(fields), displayName: titleOf(fields) };
    return this.#turn.ownCall(id === undefined ? start : { id, ...start });
  }

  /** A call that runs cannot be asked about: then the question gets a call of its own. */
  #askable(seen: Seen): OwnCall {
    if (seen.call && !seen.isRunning && !seen.isOver) return seen.call;
    if (seen.call && !seen.isOver) this.#end(seen);
    const call = this.#start(seen.fields);
    seen.call = call;
    seen.isOver = false;
    seen.isRunning = false;
    return call;
  }

  /** Nobody was asked, so it just runs. */
  #runs(seen: Seen): void {
    if (seen.isRunning) return;
    seen.isRunning = true;
    seen.call?.shown(inputOf(seen.fields), titleOf(seen.fields));
  }

  #end(seen: Seen): void {
    if (!seen.asking) this.#runs(seen);
    seen.isOver = true;
    this.#completing.push(complete(seen).catch(() => {}));
  }
}

async function permitFor(call: OwnCall, fields: CallFields, { options }: Question): Promise<Permit> {
  const title = titleOf(fields);
  const checked = await call.check(inputOf(fields), title);
  if (checked.kind === 'denied') return checked;
  const edits = comingEdits(fields.content);
  return call.confirm({ title, ...(options && { options }), ...(edits.length > 0 && { edits }) });
}

/** An agent that goes on without waiting for the answer has its result kept until then. */
async function complete({ fields, call, asking }: Seen): Promise<void> {
  const permit = await asking;
  if (!call || permit?.kind === 'denied') return;
  const { status } = fields;
  const isKnown = status === 'completed' || status === 'failed';
  await call.complete({
    success: status === 'completed',
    pastTenseMessage: titleOf(fields),
    content: resultContent(fields.content, fields.rawOutput),
    ...(!isKnown && { error: { message: 'the agent did not tell how this ended' } }),
  });
}

/** What an agent may say in a turn, whichever agent it is: the turn runner keeps the books. */

import {
  ACTIVITY_MAX_CHARACTERS,
  NOTE_MAX_CHARACTERS,
  PART_TEXT_MAX_CHARACTERS,
  TITLE_MAX_CHARACTERS,
  TURN_PARTS_MAX,
  TURN_TEXT_MAX_CHARACTERS,
} from '@atrium/core/sessions/limits.js';
import { TurnStream } from '@atrium/core/sessions/turn-output.js';
import type { ResponsePart } from '@atrium/protocol';
import type { ChatAction } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { runningProcesses } from '../../src/agent-acceptance/cases.js';
import { ACP_TEST_MAX_MS, acpFixture } from '../support/acp-fixture.js';
import { hasClaude, WHY_SKIPPED as WHY_NO_CLAUDE } from '../support/claude-agent.js';
import { ClaudeFixture } from '../support/claude-fixture.js';
import { hasCopilot, WHY_SKIPPED as WHY_NO_COPILOT } from '../support/copilot-agent.js';
import { CopilotFixture } from '../support/copilot-fixture.js';
import { openPuppetFixture, stateOf, textIn } from '../support/session-fixture.js';

const HALF = 'x'.repeat(PART_TEXT_MAX_CHARACTERS / 2);
const CUT = '[Cut: one part of an answer may have at most 2 MiB.]';

const texts = (parts: readonly ResponsePart[] | undefined): string[] =>
  (parts ?? []).flatMap((part) => (part.kind === 'markdown' || part.kind === 'reasoning' ? part.content : []));

describe('what an agent says in a turn', { timeout: 30_000 }, () => {
  it('is cut where a part becomes too long, and it shows; the next part is whole again', async () => {
    const { puppet, client, uri } = await openPuppetFixture();
    const { turn } = puppet;
    for (const text of [HALF, HALF, 'beyond', HALF]) turn.text(text);
    turn.reasoning('hm');
    turn.text('again');
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    const [first, thought, last] = texts((await stateOf(client, uri)).turns[0]?.responseParts);
    expect(first?.length).toBe(PART_TEXT_MAX_CHARACTERS + `\n\n${CUT}`.length);
    expect(first?.endsWith(`x\n\n${CUT}`)).toBe(true);
    expect([thought, last]).toEqual(['hm', 'again']);
  });

  it('is never cut without need', async () => {
    const { puppet, client, uri } = await openPuppetFixture();
    puppet.turn.text(HALF);
    puppet.turn.text(HALF);
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    expect(texts((await stateOf(client, uri)).turns[0]?.responseParts)).toEqual([HALF + HALF]);
  });

  it('ends the turn when it is too much in all, and the agent is told to stop', async () => {
    const { puppet, client, uri } = await openPuppetFixture();
    const { turn } = puppet;
    const halves = (2 * TURN_TEXT_MAX_CHARACTERS) / PART_TEXT_MAX_CHARACTERS;
    for (let index = 0; index < halves; index++) turn[index % 2 ? 'text' : 'reasoning'](HALF);
    expect(turn.signal.aborted).toBe(false);
    turn.text('one too many');
    turn.text('nobody hears this');
    await client.action(uri, 'session/error');
    await expect.poll(() => turn.signal.aborted).toBe(true);
    const [ended] = (await stateOf(client, uri)).turns;
    const message = 'The turn was broken off: it had more than 64 MiB of text. Send a message to let the agent go on.';
    expect([ended?.state, ended?.error]).toEqual(['error', { errorType: 'too-long', message }]);
    expect(texts(ended?.responseParts).join('')).not.toContain('nobody');
  });

  it('ends the turn when it has too many parts', () => {
    const written: ChatAction[] = [];
    const stream = new TurnStream({ id: 't1', responseParts: [] } as never, (action) => {
      // As the runner does: a turn that is over takes nothing more.
      if (written.at(-1)?.type === 'chat/error') return;
      written.push(action);
      stream.wrote(action);
    });
    for (let part = 1; part <= TURN_PARTS_MAX; part++) stream.note('.');
    expect(new Set(written.map(({ type }) => type))).toEqual(new Set(['chat/responsePart']));
    stream.note('one too many');
    const message = expect.stringContaining(`more than ${TURN_PARTS_MAX} parts`);
    expect(written.at(-1)).toMatchObject({ type: 'chat/error', turnId: 't1', part: { error: { message } } });
  });

  it('has short notes, a short title, and short words about what is going on', async () => {
    const { puppet, client, uri } = await openPuppetFixture();
    const { turn } = puppet;
    turn.title('t'.repeat(10_000));
    turn.activity('a'.repeat(10_000));
    turn.notify('n'.repeat(100_000));
    await client.action(uri, 'session/responsePart');
    const { summary, activeTurn } = await stateOf(client, uri);
    expect([summary.title.length, summary.activity?.length]).toEqual([TITLE_MAX_CHARACTERS, ACTIVITY_MAX_CHARACTERS]);
    const [note] = activeTurn?.responseParts ?? [];
    expect(note?.kind === 'systemNotification' && String(note.content).length).toBe(NOTE_MAX_CHARACTERS + 1);
  });
});

describe('an agent that talks without an end', { timeout: ACP_TEST_MAX_MS }, () => {
  it('behind a command is stopped, and the next turn goes on', async () => {
    const { fixture } = await acpFixture([{ floods: 'plum '.repeat(20) }, { text: ['Sorry.'] }]);
    const turn = await fixture.turn('which fruit?');
    expect([turn.state, turn.error?.errorType]).toEqual(['error', 'too-long']);
    expect(texts(turn.responseParts).join('').endsWith(CUT)).toBe(true);
    expect(textIn((await fixture.turn('enough')).responseParts)).toBe('Sorry.');
    expect(await runningProcesses(fixture)).toEqual([]);
  });

  it.skipIf(!hasClaude)(`is cut when it is Claude${WHY_NO_CLAUDE}`, async () => {
    const fixture = await ClaudeFixture.open([{ text: [HALF, HALF, HALF] }]);
    const said = textIn((await fixture.turn('go')).responseParts);
    expect([said.length, said.endsWith(CUT)]).toEqual([PART_TEXT_MAX_CHARACTERS + `\n\n${CUT}`.length, true]);
  });

  it.skipIf(!hasCopilot)(`is cut when it is Copilot${WHY_NO_COPILOT}`, async () => {
    const fixture = await CopilotFixture.open([{ text: [HALF, HALF, HALF] }]);
    const said = textIn((await fixture.turn('go')).responseParts);
    expect([said.length, said.endsWith(CUT)]).toEqual([PART_TEXT_MAX_CHARACTERS + `\n\n${CUT}`.length, true]);
  });
});

import type { Extension } from '@atrium/core/contracts/extension.js';
import { EXTENSION_TIMEOUT_MS, GATE_TEXT_MAX_CHARACTERS } from '@atrium/core/tool-calls/limits.js';
import type { ResponsePart } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { openPuppetFixture, stateOf } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';
import { call, DENY, extension, gate } from './support.js';

async function notedFixture(...extensions: Extension[]) {
  const fixture = await openPuppetFixture({ tools: [echoTool('read')], extensions });
  const notes = async () => {
    await settle();
    return ((await stateOf(fixture.client, fixture.uri)).activeTurn?.responseParts ?? []).flatMap(
      (part: ResponsePart) => (part.kind === 'systemNotification' ? [part.content] : []),
    );
  };
  return { ...fixture, turn: fixture.puppet.turn, notes };
}

describe('a note at a call', () => {
  it('[UNI-018] of a gate goes to the model with the result, and to people as a part of the turn', async () => {
    const watcher = gate('ci-watcher', { kind: 'pass', note: 'the build is red' });
    const { turn, notes } = await notedFixture(extension('w', { gates: [watcher] }));
    const outcome = await call(turn, 'read', { input: { a: 1 } });
    expect(outcome).toMatchObject({
      success: true,
      text: '{"a":1}\n\n[Note of ci-watcher: the build is red]',
      content: [{ type: 'text', text: '{"a":1}' }],
    });
    expect(await notes()).toEqual(['ci-watcher: the build is red']);
  });

  it('[UNI-018] can be left when the call is over, by whoever looks at the result', async () => {
    const seen: unknown[] = [];
    const after: Extension['afterCall'] = async ({ toolName, input }, outcome) => {
      seen.push([toolName, input, outcome.kind === 'completed' && outcome.text]);
      return 'run the formatter';
    };
    const { turn, notes } = await notedFixture(extension('style', { afterCall: after }));
    expect(await call(turn, 'read')).toMatchObject({ text: '{}\n\n[Note of style: run the formatter]' });
    expect(seen).toEqual([['read', {}, '{}']]);
    expect(await notes()).toEqual(['style: run the formatter']);
  });

  it('is not asked for when the call did not run', async () => {
    let asked = 0;
    const parts = { gates: [gate('no', DENY)], afterCall: async () => `${++asked}` };
    const { turn, notes } = await notedFixture(extension('w', parts));
    expect(await call(turn, 'read')).toMatchObject({ kind: 'denied' });
    expect([asked, await notes()]).toEqual([0, []]);
  });

  it.each<[string, Extension['afterCall']]>([
    ['rejects', () => Promise.reject(new Error('broken'))],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
  ])('of one that %s is none; the result stays', async (_how, afterCall) => {
    const { turn } = await notedFixture(extension('w', { ...(afterCall && { afterCall }) }));
    expect(await call(turn, 'read')).toMatchObject({ success: true, text: '{}' });
  });

  it('is not waited for without end', async () => {
    let signal: AbortSignal | undefined;
    const never: Extension['afterCall'] = (_call, _outcome, stopped) => {
      signal = stopped;
      return new Promise(() => {});
    };
    const { turn, clock } = await notedFixture(extension('w', { afterCall: never }));
    const outcome = call(turn, 'read');
    await settle();
    await clock.advance(EXTENSION_TIMEOUT_MS);
    expect(await outcome).toMatchObject({ text: '{}' });
    expect(signal?.aborted).toBe(true);
  });

  it('is cut when it is too long', async () => {
    const watcher = gate('w', { kind: 'pass', note: 'x'.repeat(GATE_TEXT_MAX_CHARACTERS * 2) });
    const { turn, notes } = await notedFixture(extension('w', { gates: [watcher] }));
    await call(turn, 'read');
    expect((await notes())[0]).toHaveLength(GATE_TEXT_MAX_CHARACTERS);
  });
});

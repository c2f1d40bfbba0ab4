import type { HostTool, ToolOutput } from '@atrium/core/contracts/tool.js';
import { RESULT_DATA_MAX_CHARACTERS, RESULT_TEXT_MAX_CHARACTERS } from '@atrium/core/tool-calls/results.js';
import { describe, expect, it } from 'vitest';
import { openPuppetFixture, refusalOf } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';
import { approve, call, callState, extension, sessionOf, typesOf } from './support.js';

/** A tool that never ends, and the signal that it was given. */
function endlessTool(timeoutMs?: number) {
  const seen: { signal?: AbortSignal } = {};
  const tool: HostTool = {
    ...echoTool('wait', {
      work: (_input, { signal }) => {
        seen.signal = signal;
        return new Promise(() => {});
      },
    }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
  return { tool, seen };
}

const output = (more: Partial<ToolOutput>): HostTool => ({
  ...echoTool('say'),
  run: async () => ({ success: true, pastTenseMessage: 'Said', content: [], ...more }),
});

describe('a tool that runs', () => {
  it('[UNI-016] is stopped when its time is up, and fails with TIMEOUT', async () => {
    const { tool, seen } = endlessTool(1_500);
    const { client, uri, puppet, clock } = await openPuppetFixture({ tools: [tool] });
    const outcome = call(puppet.turn, 'wait');
    await settle();
    await clock.advance(1_499);
    expect(await callState(client, uri)).toMatchObject({ status: 'running' });
    await clock.advance(1);
    expect(await outcome).toMatchObject({ success: false, text: 'it took longer than 1.5 s and was stopped' });
    expect(await callState(client, uri)).toMatchObject({ status: 'completed', error: { code: 'TIMEOUT' } });
    expect(seen.signal?.aborted).toBe(true);
  });

  it('[UNI-016] is told when the turn is cancelled, and not waited for if it does not listen', async () => {
    const { tool, seen } = endlessTool();
    const { client, uri, puppet } = await openPuppetFixture({ tools: [tool] });
    const outcome = call(puppet.turn, 'wait');
    await client.action(uri, 'session/toolCallReady');
    await refusalOf(client, uri, { type: 'session/turnCancelled', turnId: 't1' });
    await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
    expect(seen.signal?.aborted).toBe(true);
    expect(await callState(client, uri)).toMatchObject({ status: 'completed', success: false });
  });

  it('[AHP-254] says that it was stopped while it ran, and keeps the output that was seen', async () => {
    const tool = echoTool('wait', {
      work: (_input, { progress }) => {
        progress([{ type: 'text', text: 'tick 1' }]);
        return new Promise(() => {});
      },
    });
    const { client, uri, puppet } = await openPuppetFixture({ tools: [tool] });
    call(puppet.turn, 'wait').catch(() => {});
    await client.action(uri, 'session/toolCallContentChanged');
    await refusalOf(client, uri, { type: 'session/turnCancelled', turnId: 't1' });
    expect(await callState(client, uri)).toMatchObject({
      status: 'completed',
      success: false,
      pastTenseMessage: expect.stringMatching(/^Stopped while running: /),
      content: [{ type: 'text', text: 'tick 1' }],
      error: { code: 'STOPPED', message: expect.stringContaining('may have done some or all of its work') },
    });
  });

  it('[UNI-015] shows one block of text while it runs, replaced each time', async () => {
    let show = (_text: string): void => {};
    const tool = echoTool('wait', {
      work: (_input, { progress }) => {
        show = (text) => progress([{ type: 'text', text }]);
        return new Promise(() => {});
      },
    });
    // The clock stands still, and what is joined would wait for it.
    const { client, uri, puppet } = await openPuppetFixture({ tools: [tool], joinText: false });
    call(puppet.turn, 'wait');
    await client.action(uri, 'session/toolCallReady');
    await settle();
    for (const text of ['30%', '60%']) {
      show(text);
      await settle();
      expect(await callState(client, uri)).toMatchObject({ status: 'running', content: [{ type: 'text', text }] });
    }
  });

  it.each<[string, Partial<HostTool>]>([
    [
      'what it would do',
      {
        invocationMessage: () => {
          throw new Error('odd input');
        },
      },
    ],
    [
      'whether it must ask',
      {
        confirmation: () => {
          throw new Error('odd input');
        },
      },
    ],
    [
      'what would change',
      { confirmation: () => ({ title: '?' }), preview: () => Promise.reject(new Error('odd input')) },
    ],
  ])('and cannot say %s fails; the turn goes on', async (_what, parts) => {
    const { client, uri, puppet } = await openPuppetFixture({ tools: [{ ...echoTool('odd'), ...parts }] });
    expect(await call(puppet.turn, 'odd')).toMatchObject({ success: false, text: 'odd input' });
    expect(typesOf(client, uri)).toEqual(['Start', 'Ready', 'Complete']);
  });

  it('is not looked ahead for without end', async () => {
    const tool: HostTool = { ...echoTool('odd'), confirmation: () => ({ title: '?' }), timeoutMs: 1_000 };
    const hung = { ...tool, preview: () => new Promise<never>(() => {}) };
    const { puppet, clock } = await openPuppetFixture({ tools: [hung] });
    const outcome = call(puppet.turn, 'odd');
    await settle();
    await clock.advance(1_000);
    expect(await outcome).toMatchObject({ success: false, text: expect.stringContaining('longer than 1 s') });
  });

  it('[UNI-099] is not run when it was taken away while a person thought about it', async () => {
    const tool = { ...echoTool('push', { confirmation: { title: 'Sure?' } }), owner: 'git' };
    const fixture = await openPuppetFixture({ extensions: [extension('git', { tools: [tool] })] });
    const outcome = call(fixture.puppet.turn, 'push');
    await fixture.client.action(fixture.uri, 'session/toolCallReady');
    sessionOf(fixture.puppet.turn).extensions.remove('git');
    approve(fixture);
    expect(await outcome).toMatchObject({
      success: false,
      text: expect.stringContaining('was removed before the call could run'),
    });
    expect(tool.runs).toEqual([]);
  });
});

describe('what a tool says', () => {
  it('is cut when it is too long', async () => {
    const text = 'x'.repeat(RESULT_TEXT_MAX_CHARACTERS);
    const tool = output({
      content: [
        { type: 'text', text },
        { type: 'text', text: 'more' },
      ],
    });
    const { puppet } = await openPuppetFixture({ tools: [tool] });
    const outcome = await call(puppet.turn, 'say');
    expect(outcome).toMatchObject({ content: [{ text }, { text: '\n[Cut: it is too long.]' }] });
  });

  it('leaves out data that is too large', async () => {
    const small = { type: 'embeddedResource' as const, data: 'AAAA', contentType: 'image/png' };
    const large = { ...small, data: 'A'.repeat(RESULT_DATA_MAX_CHARACTERS) };
    const { puppet } = await openPuppetFixture({ tools: [output({ content: [small, large] })] });
    const outcome = await call(puppet.turn, 'say');
    expect(outcome).toMatchObject({ content: [small, { type: 'text', text: expect.stringContaining('image/png') }] });
  });

  it('[UNI-026] may be data for programs: the model reads it as JSON when there are no words', async () => {
    const tool = output({ structuredContent: { trees: 3 } });
    const { client, uri, puppet } = await openPuppetFixture({ tools: [tool] });
    expect(await call(puppet.turn, 'say')).toMatchObject({ text: '{"trees":3}' });
    expect(await callState(client, uri)).toMatchObject({ structuredContent: { trees: 3 } });
  });

  it('[UNI-026] fails with its own words and code', async () => {
    const tool = output({ success: false, error: { message: 'no camera', code: 'NO_DEVICE' } });
    const { client, uri, puppet } = await openPuppetFixture({ tools: [tool] });
    expect(await call(puppet.turn, 'say')).toMatchObject({ success: false, text: 'no camera' });
    expect(await callState(client, uri)).toMatchObject({ error: { message: 'no camera', code: 'NO_DEVICE' } });
  });
});

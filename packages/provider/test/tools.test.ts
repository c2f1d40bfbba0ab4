import { TOOL_RESULT_MAX_BYTES } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { fileResult, ToolError } from '../src/index.js';
import { connected, eventually } from './support/connected.js';

const PARAMETERS = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

describe('tools', () => {
  it('are registered with what their author wrote', async () => {
    const { gateway } = await connected({
      tools: {
        greet: { description: 'Says hello', parameters: PARAMETERS, timeoutMs: 500, run: () => 'hi' },
        ping: { description: 'Answers', run: () => 'pong' },
      },
    });
    expect(gateway.provider.hello.tools).toEqual([
      { name: 'greet', description: 'Says hello', parameters: PARAMETERS, timeout: 500 },
      { name: 'ping', description: 'Answers', parameters: {} },
    ]);
  });

  it('get their arguments and the session, and answer with any JSON', async () => {
    const { gateway } = await connected({
      tools: {
        greet: { description: '', run: ({ name }: { name: string }, { sessionId }) => `Hello ${name} of ${sessionId}` },
        list: { description: '', run: async () => [1, { two: null }] },
        nothing: { description: '', run: () => undefined },
      },
    });
    expect(await gateway.call('greet', { name: 'desk' })).toEqual({ kind: 'data', data: 'Hello desk of session-1' });
    expect(await gateway.call('list')).toEqual({ kind: 'data', data: [1, { two: null }] });
    expect(await gateway.call('nothing')).toEqual({ kind: 'data', data: null });
  });

  it('fail with INTERNAL and the message of what they threw, or with a code of their own', async () => {
    const { gateway } = await connected({
      tools: {
        broken: {
          description: '',
          run: () => {
            throw new Error('no disk');
          },
        },
        missing: {
          description: '',
          run: () => Promise.reject(new ToolError('NOT_FOUND', 'no tab', { retryable: true })),
        },
        strange: { description: '', run: () => 12n },
      },
    });
    const failure = { kind: 'failure', retryable: false };
    expect(await gateway.call('broken')).toEqual({ ...failure, code: 'INTERNAL', text: 'no disk' });
    expect(await gateway.call('missing')).toEqual({
      kind: 'failure',
      code: 'NOT_FOUND',
      text: 'no tab',
      retryable: true,
    });
    expect(await gateway.call('strange')).toMatchObject({ ...failure, code: 'INTERNAL' });
    expect(await gateway.call('unheard-of')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await gateway.call('toString')).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('[GW-123] that are cancelled hear it, answer CANCELLED at once, and what they say later is not sent', async () => {
    let finish = () => {};
    const signals: AbortSignal[] = [];
    const { gateway } = await connected({
      tools: {
        slow: {
          description: '',
          run: (_args, { signal }) => {
            signals.push(signal);
            return new Promise<string>((resolve) => {
              finish = () => resolve('too late');
            });
          },
        },
      },
    });
    const call = gateway.begin('slow');
    await eventually(() => signals.length === 1);
    call.cancel('timeout');
    expect(await call.outcome).toMatchObject({ kind: 'failure', code: 'CANCELLED' });
    expect(signals[0]?.aborted).toBe(true);
    finish();
    await gateway.call('unheard-of');
    expect(gateway.received.filter((message) => message.type === 'tool.result' && message.id === call.id)).toHaveLength(
      1,
    );
  });

  it('tell how far they are, but not after their end', async () => {
    let report: (message: string) => void = () => {};
    const { gateway } = await connected({
      tools: {
        build: {
          description: '',
          run: (_args, { progress }) => {
            report = progress;
            progress('half');
            return 'done';
          },
        },
      },
    });
    const call = gateway.begin('build');
    await call.outcome;
    report('after the end');
    await gateway.call('build');
    expect(call.progress).toEqual(['half']);
    expect(gateway.received.filter(({ type }) => type === 'tool.progress')).toHaveLength(2);
  });

  it('do not send more than a result may have, and say so instead', async () => {
    const { gateway } = await connected({
      tools: {
        big: { description: '', run: () => 'x'.repeat(TOOL_RESULT_MAX_BYTES) },
        wide: { description: '', run: () => 'ü'.repeat(TOOL_RESULT_MAX_BYTES / 2) },
        fits: { description: '', run: () => 'x'.repeat(TOOL_RESULT_MAX_BYTES - 1_000) },
      },
    });
    expect(await gateway.call('big')).toMatchObject({
      code: 'INTERNAL',
      text: expect.stringContaining('leave a file'),
    });
    expect(await gateway.call('wide')).toMatchObject({ code: 'INTERNAL' });
    expect(await gateway.call('fits')).toMatchObject({ kind: 'data' });
  });

  it('may answer with a file', async () => {
    const file = { path: '/files/bench/shot.png', mimeType: 'image/png', size: 9_000_000 };
    const { gateway } = await connected({ tools: { shot: { description: '', run: () => fileResult(file) } } });
    expect(await gateway.call('shot')).toEqual({ kind: 'file', file: { ...file, ttl: 300 } });
  });

  it('are told when the connection is lost: nobody waits for them any more', async () => {
    const signals: AbortSignal[] = [];
    const { gateway } = await connected({
      tools: {
        slow: {
          description: '',
          run: (_args, { signal }) => {
            signals.push(signal);
            return new Promise(() => {});
          },
        },
      },
    });
    gateway.begin('slow');
    await eventually(() => signals.length === 1);
    gateway.drop();
    await eventually(() => signals[0]?.aborted === true, 'the abort');
    expect(signals[0]?.reason).toMatchObject({ code: 'DISCONNECTED' });
  });
});

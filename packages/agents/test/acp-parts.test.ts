import { AgentError } from '@atrium/core/contracts/agent.js';
import { describe, expect, it } from 'vitest';
import { loadSdk } from '../src/acp/connection.js';
import { acpError } from '../src/acp/errors.js';
import { promptBlocks } from '../src/acp/session.js';
import { outcomeOf } from '../src/acp/tool-calls.js';

describe('the package that speaks the protocol', () => {
  it('is asked for by name when it is not installed', async () => {
    const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    await expect(loadSdk('Orchard', () => Promise.reject(missing))).rejects.toMatchObject({
      errorType: 'agent-missing',
      message:
        'Orchard needs the package @agentclientprotocol/sdk, which is not installed: ' +
        'npm install @agentclientprotocol/sdk',
    });
  });
});

describe('failures of an agent', () => {
  const place = { displayName: 'Orchard', command: 'orchard', logins: [] };

  it('keep their words, and say how to log in even where the agent offers no way', () => {
    const { errorType, message } = acpError({ code: -32_000, message: 'Authentication required' }, place);
    expect(errorType).toBe('auth');
    expect(message).toBe(
      'Orchard wants you to log in first. Run orchard in a terminal, log in there, and try again. ' +
        '(Authentication required)',
    );
  });

  it('are bounded, whatever is thrown', () => {
    expect(acpError({ message: 'x'.repeat(1e6) }, place).message.length).toBeLessThan(2_000);
    expect(acpError('socket hang up', place).errorType).toBe('network');
    expect(acpError({ message: 'Internal error', data: { reason: 7 } }, place).message).toContain('{"reason":7}');
    const own = new AgentError('agent-failed', 'as it is');
    expect(acpError(own, place)).toBe(own);
  });
});

describe('a prompt', () => {
  it('takes attachments along in the way that the agent takes them', () => {
    const picture = { type: 'embeddedResource' as const, label: 'plum.png', data: 'AA==', contentType: 'image/png' };
    const message = {
      text: 'look',
      origin: { kind: 'user' as const },
      attachments: [
        { type: 'resource' as const, label: 'plums.txt', uri: 'file:///a/plums.txt' },
        { type: 'simple' as const, label: 'selection', modelRepresentation: 'the blue ones' },
        picture,
      ],
    };
    const parts = { preface: undefined, transcript: undefined, pendingReasons: [], context: [], message };
    const [text, link, words, seen] = promptBlocks(parts, { image: true });
    expect([text, link, words, seen]).toEqual([
      { type: 'text', text: 'look' },
      { type: 'resource_link', name: 'plums.txt', uri: 'file:///a/plums.txt' },
      { type: 'text', text: 'the blue ones' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
    ]);
    expect(promptBlocks(parts, {}).at(-1)).toEqual({
      type: 'text',
      text: '[Attached] plum.png (a picture, which you cannot be shown)',
    });
  });
});

describe('the answer to a question', () => {
  const always = { optionId: 'a', name: 'Always', kind: 'allow_always' as const };
  const never = { optionId: 'n', name: 'Never', kind: 'reject_always' as const };

  it('never decides for good by itself, except that there is no other way to allow', () => {
    expect(outcomeOf({ kind: 'granted' }, [always, never])).toEqual({ outcome: 'selected', optionId: 'a' });
    expect(outcomeOf({ kind: 'denied', reason: 'no' }, [always, never])).toEqual({ outcome: 'cancelled' });
    expect(outcomeOf({ kind: 'granted' }, [never])).toEqual({ outcome: 'cancelled' });
  });

  it('does not take a button of the other kind', () => {
    expect(outcomeOf({ kind: 'denied', reason: 'no', option: 'a' }, [always])).toEqual({ outcome: 'cancelled' });
  });
});

import { describe, expect, it } from 'vitest';
import { sessionsV1 } from '../../../src/dialects/sessions-v1/codec.js';
import { ErrorCode } from '../../../src/errors/codes.js';
import { clientRequests } from '../../../src/methods.js';
import { forwarded, hostWith } from './scenes.js';

const view = hostWith();

function request(method: string, params: Record<string, unknown>) {
  return sessionsV1.request({ method, params }, {}, view);
}

describe('sessions-v1 content and directories', () => {
  it('[V1-001] [V1-015] reads content as a resource, and calls its type a MIME type', () => {
    const { method, params, encodeResult } = forwarded(request('fetchContent', { uri: 'content://s/1' }));
    expect({ method, params }).toEqual({
      method: 'resourceRead',
      params: { channel: 'ahp-root://', uri: 'content://s/1' },
    });
    const read = { data: 'aGk=', encoding: 'base64', contentType: 'text/plain' };
    expect(encodeResult(read, view)).toEqual({ data: 'aGk=', encoding: 'base64', mimeType: 'text/plain' });
    expect(encodeResult({ data: 'hi', encoding: 'utf-8' }, view)).toEqual({ data: 'hi', encoding: 'utf-8' });
  });

  it('[V1-016] lists a directory as a resource', () => {
    const { method, params, encodeResult } = forwarded(request('browseDirectory', { uri: 'file:///srv' }));
    expect({ method, params }).toEqual({
      method: 'resourceList',
      params: { channel: 'ahp-root://', uri: 'file:///srv' },
    });
    const listed = { entries: [{ name: 'a', type: 'file' }] };
    expect(encodeResult(listed, view)).toEqual(listed);
  });
});

describe('methods that sessions-v1 does not have', () => {
  const OWN = ['initialize', 'reconnect', 'subscribe', 'createSession', 'disposeSession', 'listSessions', 'fetchTurns'];
  const REFUSED = [
    'createTerminal',
    'disposeTerminal',
    'createResourceWatch',
    'completions',
    'invokeChangesetOperation',
  ];
  const harmless = Object.keys(clientRequests).filter((method) => ![...OWN, ...REFUSED].includes(method));

  it.each(harmless)('[V1-020] %s is answered normally', (method) => {
    const { params, encodeResult } = forwarded(request(method, { uri: 'file:///a' }));
    expect(params).toEqual({ uri: 'file:///a', channel: 'ahp-root://' });
    expect(encodeResult(harmless, view)).toBe(harmless);
  });

  it.each([...REFUSED, 'systemMessageTransform', 'toString', 'no such'])('[V1-020] %s is unknown', (method) => {
    expect(request(method, {})).toMatchObject({ kind: 'fail', error: { code: ErrorCode.MethodNotFound } });
  });
});

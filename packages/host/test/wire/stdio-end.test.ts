import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { stdioTransport } from '@atrium/core/wire/transports/stdio.js';
import { expect, it } from 'vitest';
import { ROOT, startTestHost } from '../support/test-host.js';

it('answers everything that was asked before the input ended', async () => {
  const { host } = await startTestHost();
  const [input, output] = [new PassThrough(), new PassThrough()];
  host.connect(stdioTransport({ input, output }));
  const requests = [
    { id: 1, method: 'initialize', params: { channel: ROOT, protocolVersions: ['0.3.0'], clientId: 'pipe' } },
    { id: 2, method: 'createSession', params: { channel: 'ahp-session:/piped' } },
    { id: 3, method: 'listSessions', params: { channel: ROOT } },
  ];
  input.end(requests.map((request) => `${JSON.stringify({ jsonrpc: '2.0', ...request })}\n`).join(''));
  const answers = (await text(output)).trim().split('\n');
  expect(answers.map((line) => JSON.parse(line).id)).toEqual([1, 2, 3]);
  expect(answers[2]).toContain('ahp-session:/piped');
});

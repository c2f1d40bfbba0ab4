/** The model agent with this very process as its model: it says one word, at once, and contacts no server. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StandIn } from '@atrium/core/contracts/agent.js';
import { type ModelAgentOptions, modelAgent } from './backend.js';

const events = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: 'Yes.' } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
].map((event) => JSON.stringify(event));
const ANSWER = [...events, '[DONE]'].map((event) => `data: ${event}\n\n`).join('');

/** It has neither the key nor the address of the real agent. */
export async function startStandIn({ provider, displayName, models }: ModelAgentOptions): Promise<StandIn> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/event-stream');
    request.resume().once('end', () => response.end(ANSWER));
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { preload, standIn, ...agent } = modelAgent({
    ...{ provider, displayName, models, retries: 0 },
    ...{ kind: 'openai-compatible', baseURL: `http://127.0.0.1:${port}/v1` },
  });
  return {
    agent,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

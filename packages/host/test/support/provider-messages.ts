/** What providers can say. */
import type { ToGatewayMessageType } from '@atrium/protocol/provider';

/** One well-formed message of every type. */
export const MESSAGES: Record<ToGatewayMessageType, object> = {
  auth: { token: 'x' },
  'auth.confirm': { code: '000000' },
  hello: { name: 'ci', protocolVersion: 2 },
  goodbye: {},
  'session.ready': { sessionId: 's' },
  'tool.result': { id: 'x', data: 1 },
  'tool.progress': { id: 'x', message: 'm' },
  'gate.result': { gateId: 'g', callId: 'c', decision: 'allow' },
  'transform.result': { callId: 'c', content: '' },
  push: { level: 'keep', event: 'e' },
  'tools.update': { requestId: 'r' },
  'hooks.update': { requestId: 'r' },
  'context.update': { requestId: 'r', context: '' },
  'filter.set': { requestId: 'r', stream: 's', rules: [] },
  'stream.query': { queryId: 'q', streams: [], last: 1 },
  'shutdown.ready': { sessionId: 's' },
};

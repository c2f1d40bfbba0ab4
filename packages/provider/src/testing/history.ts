/** The answer of a fake gateway to a query: out of what was pushed, since a fake stores nothing else. */
import type { ToGatewayMessageMap, ToProviderMessageMap } from '@atrium/protocol/provider';

type Push = ToGatewayMessageMap['push'];

export function historyOf(
  { queryId, streams, last }: ToGatewayMessageMap['stream.query'],
  pushes: readonly Push[],
  provider: string,
): ToProviderMessageMap['stream.history'] {
  const ts = new Date().toISOString();
  const eventsOf = (stream: string) =>
    pushes
      .filter((push) => (push.stream ?? provider) === stream)
      .slice(-last)
      .toReversed()
      .map(({ event, prompt, metadata }) => ({ ts, event: event ?? prompt ?? '', ...(metadata && { metadata }) }));
  const found = streams.map((asked) => {
    const [stream = ''] = asked.split('@');
    return [`${stream}@${provider}`, eventsOf(stream)];
  });
  return { type: 'stream.history', queryId, streams: Object.fromEntries(found) };
}

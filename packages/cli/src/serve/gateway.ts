/** Opens the host to providers. That the usual port is taken is no reason not to run; a port that was asked for is. */
import { type GatewayServer, type Host, type Logger, startGatewayServer } from '@atrium/host';
import type { ServeSettings } from './settings.js';

export interface OpenGateway {
  readonly url: string;
  close(): Promise<void>;
}

export async function openGateway(
  { gateway }: ServeSettings,
  host: Host,
  logger: Logger,
): Promise<OpenGateway | undefined> {
  if (!gateway) return undefined;
  const server = await listen(gateway.port, host).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    if (gateway.isNamed) throw new Error(`port ${gateway.port} for providers is taken: use --gateway-port 0 for any`);
    const hint = 'another host has it; for a port of its own: --gateway-port 0';
    logger.log('warn', `no provider can connect: port ${gateway.port} is taken`, { hint });
  });
  if (!server) return undefined;
  const url = `ws://localhost:${server.port}`;
  host.gatewayAt({ url, port: server.port });
  logger.log('info', 'listening for providers', { port: server.port });
  return { url, close: () => server.close() };
}

/** Strangers from other machines have no business here, wherever clients may come from. */
function listen(port: number, host: Host): Promise<GatewayServer> {
  return startGatewayServer({ port, onConnection: (transport) => host.connectProvider(transport, 'network') });
}

/** The life of a host: it starts, serves clients and providers, and stops. `compose.ts` makes its parts. */

import { type Access, OWNER } from '@atrium/core/contracts/access.js';
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import type { Log } from '@atrium/core/log/log.js';
import { recoverList } from '@atrium/core/sessions/catalogue.js';
import type { Service } from '@atrium/core/sessions/service.js';
import type { Sessions } from '@atrium/core/sessions/sessions.js';
import { Connection } from '@atrium/core/wire/connection.js';
import type { ConnectionRegistry } from '@atrium/core/wire/connections.js';
import { CloseCode, type Transport } from '@atrium/core/wire/transport.js';
import { compose, type HostComponents } from './compose.js';
import { deviceRoutes } from './devices/routes.js';
import type { Gateway } from './gateway/gateway.js';
import type { GatewayAddress, Host, HostActivity, HostDevices, HostOptions } from './host-options.js';
import { Housekeeping } from './housekeeping.js';
import { type AnswerResult, answerRoute } from './notifications/answers.js';
import type { Tunnels } from './server/tunnels.js';
import { WireLog } from './telemetry/wire-log.js';

/**
 * How long after its start a host loads what turns need: by then READY is printed and the first clients are connected.
 */
export const PRELOAD_AFTER_MS = 500;

/** Takes over the log and closes it when the host stops or fails to start. */
export async function createHost(options: HostOptions): Promise<Host> {
  const host = new AgentHost(options);
  try {
    await host.start(options);
  } catch (error) {
    await host.stop().catch(() => {});
    throw error;
  }
  return host;
}

class AgentHost implements Host {
  readonly failed: Promise<Error>;
  readonly #log: Log;
  /** For tests that look behind the wire. */
  readonly components: HostComponents;
  #gatewayAddress: GatewayAddress | undefined;
  readonly #housekeeping: Housekeeping;
  readonly #devices: HostDevices;
  readonly #wireLog: WireLog | undefined;
  #fail: (error: Error) => void = () => {};
  #stopped: Promise<void> | undefined;
  #cancelPreload: () => void = () => {};

  constructor(options: HostOptions) {
    const { log, wireLog: folder } = options;
    this.#log = log;
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
    this.components = compose(options, {
      superseded: (error) => this.#giveUp(error),
      gatewayAddress: () => this.#gatewayAddress,
    });
    const { clock, logger, sessions, clients, connections, devices } = this.components;
    this.#devices = {
      get hostId() {
        return devices.key.hostId;
      },
      routes: [
        ...deviceRoutes(devices, () => clock.now()),
        answerRoute((key, approved) => this.answerNotification(key, approved)),
      ],
      accessOf: (token) => devices.accessOf(token),
      used: (access, place) => devices.used(access, place),
      reachedAt: (reach) => devices.reachedAt(reach),
    };
    const isHere = (clientId: string) => connections.isConnected(clientId);
    const chores = [() => sessions.purge(), () => clients.purge(isHere)];
    this.#housekeeping = new Housekeeping({ clock, logger, tasks: chores });
    this.#wireLog = folder === undefined ? undefined : new WireLog({ folder, clock, logger });
  }

  async start({ agents }: HostOptions): Promise<void> {
    const { catalogue, root, services, sessions, writer, damage, records, clock } = this.components;
    await damage.start();
    await catalogue.load();
    const recovered = await recoverList({ log: this.#log, writer, clock, catalogue, records });
    if (recovered !== undefined) damage.add({ message: recovered });
    await root.load(agents);
    root.setActiveSessions(catalogue.count);
    for (const service of services) await service.start?.();
    await sessions.recover();
    await this.#housekeeping.start();
    await writer.settled();
    for (const service of services) service.ready?.();
    if (agents.some(({ preload }) => preload))
      this.#cancelPreload = clock.after(PRELOAD_AFTER_MS, () => void this.#preload(agents));
  }

  /**
   * Loads what agents need for their first turns, one agent after the other. A turn that starts earlier loads it
   * itself.
   */
  async #preload(agents: readonly AgentBackend[]): Promise<void> {
    for (const agent of agents) {
      if (this.#stopped) return;
      try {
        await agent.preload?.();
      } catch (error) {
        const { provider } = agent.info;
        this.components.logger.log('warn', 'an agent could not be loaded', { provider, error: String(error) });
      }
    }
    await this.#warmUp(agents);
  }

  /**
   * Compiles the code of a first turn by running one beforehand. A host with a turn under way has compiled it already.
   */
  async #warmUp(agents: readonly AgentBackend[]): Promise<void> {
    const agent = agents.find(({ standIn }) => standIn);
    if (!agent || this.#stopped || this.activity.working > 0) return;
    try {
      const { warmUp } = await import('./warm-up.js');
      await warmUp(agent, createHost);
    } catch (error) {
      this.components.logger.log('warn', 'the rehearsal of a turn failed', { error: String(error) });
    }
  }

  connect(transport: Transport, access: Access = OWNER): void {
    if (this.#stopped) return rejectTransport(transport);
    const { connections } = this.components;
    connections.add(new Connection(this.components.wire, this.#wireLog?.watch(transport) ?? transport, access));
  }

  connectProvider(transport: Transport, origin: 'in-process' | 'network'): void {
    if (this.#stopped) return rejectTransport(transport);
    this.components.gateway.connect(transport, origin);
  }

  gatewayAt(address: GatewayAddress): void {
    this.#gatewayAddress = address;
  }

  answerNotification(key: unknown, approved: unknown): Promise<AnswerResult> {
    return this.components.notifications.answer(key, approved);
  }

  get devices(): HostDevices {
    return this.#devices;
  }

  get tunnels(): Tunnels {
    return this.components.tunnels;
  }

  get activity(): HostActivity {
    return activityOf(this.components);
  }

  /** Another host owns the log now, and with it the sessions: anything this host still does would be lost. */
  #giveUp(error: Error): void {
    const { logger } = this.components;
    logger.log('error', 'another host has taken over the log: this one stops', { error: error.message });
    this.#fail(error);
    this.stop().catch((failure) => logger.log('error', 'could not stop in good order', { error: String(failure) }));
  }

  drain(): void {
    this.components.turnStarts.handOver();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { connections, idle, sessions, services, gateway, root, writer } = this.components;
    this.#cancelPreload();
    for (const service of services) service.stopping?.();
    for (const connection of [...connections.all()]) connection.close(CloseCode.GoingAway, 'the host is stopping');
    connections.stop();
    idle.stop();
    await Promise.all([sessions.close(), this.#housekeeping.stop()]);
    for (const service of services) await this.#close(service);
    gateway.close();
    root.close();
    await writer.settled().catch(() => {});
    await this.#log.close();
  }

  /** A service that fails to close must not keep the others, or the log, from closing. */
  async #close(service: Service): Promise<void> {
    try {
      await service.close?.();
    } catch (error) {
      this.components.logger.log('warn', 'a part of the host could not be closed', { error: String(error) });
    }
  }
}

function rejectTransport(transport: Transport): void {
  transport.close(CloseCode.GoingAway, 'the host has stopped');
}

interface ActivitySources {
  readonly connections: ConnectionRegistry;
  readonly gateway: Gateway;
  readonly sessions: Sessions;
  readonly services: readonly Service[];
}

/** Who is connected and what is running, in numbers. */
function activityOf({ connections, gateway, sessions, services }: ActivitySources): HostActivity {
  const providers = [...gateway.connections];
  return {
    clients: [...connections.all()].length,
    providers: providers.length,
    ownProviders: providers.filter(({ access }) => access?.trust === 'project').length,
    working: [...sessions.inMemory.values()].filter(({ isWorkedOnHere }) => isWorkedOnHere).length,
    terminals: services.reduce((sum, { running = 0 }) => sum + running, 0),
    automations: services.reduce((sum, { awaited = 0 }) => sum + awaited, 0),
  };
}

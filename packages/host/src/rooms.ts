/** The rooms around the sessions, each made from the core and what the options say of it. */
import path from 'node:path';
import { Auth } from './auth/auth.js';
import { KeptContents } from './blobs/kept-contents.js';
import type { AgentBackend } from './core/contracts/agent.js';
import type { HostCore } from './core/contracts/host-core.js';
import type { Service } from './core/contracts/service.js';
import type { Catalogue } from './core/sessions/catalogue.js';
import { Choices } from './core/sessions/choices.js';
import type { AttachCompanion } from './core/sessions/companion.js';
import { createGateway, type Gateway } from './gateway/gateway.js';
import type { GatewayAddress, HostOptions } from './host-options.js';
import { Customizations } from './plugins/customizations/customizations.js';
import type { SessionTrusts } from './plugins/trust/session-trusts.js';
import { browsedFolders } from './workspace/files/resources.js';
import { Worktrees } from './workspace/worktrees/worktrees.js';

/** Large contents of sessions. Without a folder, there is no place for them. */
export function contentsIn({ dataFolder }: HostOptions): KeptContents | undefined {
  return dataFolder === undefined ? undefined : new KeptContents(path.join(dataFolder, 'content'));
}

export function worktreesIn({ dataFolder }: HostOptions, { logger }: HostCore): Worktrees | undefined {
  return dataFolder === undefined ? undefined : new Worktrees(path.join(dataFolder, 'worktrees'), logger);
}

interface GatewayParts {
  readonly core: HostCore;
  readonly trusts: SessionTrusts;
  address(): GatewayAddress | undefined;
}

export function gatewayWith({ strictProviders, providerFolder }: HostOptions, parts: GatewayParts): Gateway {
  const { core, trusts, address } = parts;
  const { clock, logger, telemetry, writer } = core;
  const { gateway } = createGateway({
    clock,
    logger,
    telemetry,
    isStrict: strictProviders ?? false,
    address,
    trustOf: (session) => trusts.of(session),
    showCodes: (notice) => core.pairings.post(notice),
    settled: () => writer.settled(),
    afterCommit: (then) => writer.afterCommit(then),
    mayRest: (uri) => core.mayRest(uri),
    ...(providerFolder !== undefined && { filesFolder: providerFolder }),
  });
  return gateway;
}

/** Plugins, skills, rules and servers; none without a place to look for them. */
export function customizationsWith(
  { customizations: options, trust }: HostOptions,
  { core, trusts }: Pick<GatewayParts, 'core' | 'trusts'>,
): Customizations | undefined {
  if (!options) return undefined;
  return new Customizations({
    options,
    clock: core.clock,
    logger: core.logger,
    trustOf: (session) => trusts.of(session),
    isTrusted: async (folder) => trust?.isTrusted(folder) ?? false,
    connectionOf: (clientId) => core.connections.of(clientId),
    notify: (channel, method, params) => core.notify(channel, method, params),
  });
}

export function authFor(agents: readonly AgentBackend[], core: HostCore): Auth {
  return new Auth({
    clock: core.clock,
    logger: core.logger,
    agents,
    giveToServers: (resource, token) => core.customizations?.authenticate(resource, token) ?? false,
    notify: (channel, method, params) => core.notify(channel, method, params),
  });
}

interface ChoicesSources {
  readonly core: HostCore;
  readonly catalogue: Catalogue;
  readonly worktrees: Worktrees | undefined;
}

/** What a new session can be configured with. */
export function choicesWith(options: HostOptions, { core, catalogue, worktrees }: ChoicesSources): Choices {
  const { defaultDirectory, browsedFolders: more } = options;
  return new Choices({
    worktrees,
    defaultDirectory,
    browsed: browsedFolders(defaultDirectory, more),
    autoApprove: () => core.root.settings.autoApprove ?? false,
    recentFolders: () => catalogue.folders(),
  });
}

/** Everything that lives beside a session, in the order in which it hears of it. */
export function companionsOf(
  rooms: readonly (Gateway | Customizations | undefined)[],
  services: readonly Service[],
): AttachCompanion[] {
  const attached = rooms.flatMap((room): AttachCompanion[] => (room ? [(session) => room.attach(session)] : []));
  return [...attached, ...services.flatMap(({ attach }) => attach ?? [])];
}

/** The rooms around the sessions, each made from the core and what the options say of it. */
import path from 'node:path';
import { Auth } from './auth/auth.js';
import { FileBlobStore } from './blobs/file-blob-store.js';
import type { AgentBackend } from './core/contracts/agent.js';
import type { BlobStore } from './core/contracts/blobs.js';
import type { HostCore } from './core/contracts/host-core.js';
import type { Catalogue } from './core/sessions/catalogue.js';
import type { Service } from './core/sessions/service.js';
import { SessionConfig } from './core/sessions/session-config.js';
import type { AttachObserver } from './core/sessions/session-observer.js';
import type { SessionRecords } from './core/sessions/session-records.js';
import { Gateway } from './gateway/gateway.js';
import type { GatewayAddress, HostOptions } from './host-options.js';
import { Customizations } from './plugins/customizations/customizations.js';
import type { SessionTrusts } from './plugins/trust/session-trust.js';
import { browsedFolders } from './workspace/files/resources.js';
import { Worktrees } from './workspace/worktrees/worktrees.js';

/** What is too large for sessions. Without a folder, there is no place for it. */
export function blobsIn({ dataFolder }: HostOptions): BlobStore | undefined {
  return dataFolder === undefined ? undefined : new FileBlobStore(path.join(dataFolder, 'content'));
}

export function worktreesIn({ dataFolder }: HostOptions, { logger }: HostCore): Worktrees | undefined {
  return dataFolder === undefined ? undefined : new Worktrees(path.join(dataFolder, 'worktrees'), logger);
}

interface GatewayParts {
  readonly core: HostCore;
  address(): GatewayAddress | undefined;
}

export function gatewayWith({ strictProviders, providerFolder }: HostOptions, parts: GatewayParts): Gateway {
  const { core, address } = parts;
  const { clock, logger, telemetry, writer, pairings } = core;
  return new Gateway({
    clock,
    logger,
    telemetry,
    commits: writer,
    isStrict: strictProviders ?? false,
    address,
    showCodes: (notice) => pairings.post(notice),
    mayUnload: (uri) => core.mayRest(uri),
    ...(providerFolder !== undefined && { filesFolder: providerFolder }),
  });
}

/** Gives every session to the gateway, with what the host knows of it beside its state. */
function attachToGateway({ gateway, trusts, catalogue }: CompanionSources): AttachObserver {
  return (session) =>
    gateway.attach(session, {
      trust: trusts.of(session),
      abilities: session.backend?.abilities,
      isListed: () => catalogue.isListed(session.uri),
      withdrawStaleQuestions: () => session.standing.withdrawStale(session.state),
    });
}

/** Gives every session to the customizations, with what the host knows of it beside its state. */
function attachToCustomizations(customizations: Customizations, { trusts, notes }: CompanionSources): AttachObserver {
  return (session) => {
    const { backend } = session;
    return customizations.attach(session, {
      trust: trusts.of(session),
      agent: backend,
      modelBefore: {
        load: () => notes.modelBefore(session.uri),
        save: (model) => notes.setModelBefore(session.uri, model),
      },
    });
  };
}

/** Plugins, skills, rules and servers; none without a place to look for them. */
export function customizationsWith(
  { customizations: options, trust }: HostOptions,
  core: HostCore,
): Customizations | undefined {
  if (!options) return undefined;
  return new Customizations({
    options,
    clock: core.clock,
    logger: core.logger,
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
export function choicesWith(options: HostOptions, { core, catalogue, worktrees }: ChoicesSources): SessionConfig {
  const { defaultDirectory, browsedFolders: more } = options;
  return new SessionConfig({
    worktrees,
    defaultDirectory,
    browsed: browsedFolders(defaultDirectory, more),
    autoApprove: () => core.root.settings.autoApprove ?? false,
    recentFolders: () => catalogue.folders(),
  });
}

interface CompanionSources {
  readonly catalogue: Catalogue;
  readonly notes: SessionRecords;
  readonly gateway: Gateway;
  readonly trusts: SessionTrusts;
  readonly customizations: Customizations | undefined;
  readonly services: readonly Service[];
}

/** Everything that lives beside a session, in the order in which it hears of it. */
export function companionsOf(sources: CompanionSources): AttachObserver[] {
  const { customizations, services } = sources;
  return [
    attachToGateway(sources),
    ...(customizations ? [attachToCustomizations(customizations, sources)] : []),
    ...services.flatMap(({ attach }) => attach ?? []),
  ];
}

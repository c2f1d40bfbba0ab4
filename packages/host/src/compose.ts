/** The composition root: makes every part of a host and passes each what it needs. No other file knows all of them. */
import path from 'node:path';
import { DirectDelivery } from '@atrium/core/channels/delivery.js';
import type { OpenChannel } from '@atrium/core/channels/open-channel.js';
import { RootChannel } from '@atrium/core/channels/root-channel.js';
import { Writer } from '@atrium/core/channels/writer.js';
import type { Access } from '@atrium/core/contracts/access.js';
import type { Caller } from '@atrium/core/contracts/ports.js';
import { Compaction } from '@atrium/core/log/compaction.js';
import { REPLAY_MAX_ENVELOPES } from '@atrium/core/log/limits.js';
import { PostCommit } from '@atrium/core/post-commit.js';
import { Catalogue } from '@atrium/core/sessions/catalogue.js';
import { IdleUnloader } from '@atrium/core/sessions/idle.js';
import { CLIENT_GRACE_MS, PROCESSES_IDLE_MS } from '@atrium/core/sessions/limits.js';
import { abandonCalls } from '@atrium/core/sessions/recovery.js';
import { type Service, serviceOf } from '@atrium/core/sessions/service.js';
import { SessionConfig } from '@atrium/core/sessions/session-config.js';
import type { AttachObserver } from '@atrium/core/sessions/session-observer.js';
import { SessionRecords } from '@atrium/core/sessions/session-records.js';
import { sessionTitles } from '@atrium/core/sessions/session-titles.js';
import { Sessions } from '@atrium/core/sessions/sessions.js';
import { inputReader } from '@atrium/core/sessions/tool-inputs.js';
import { TurnStarts } from '@atrium/core/sessions/turn-starts.js';
import { InputReferences } from '@atrium/core/tool-calls/input-references.js';
import { MODEL_OUTPUT_MAX_CHARACTERS } from '@atrium/core/tool-calls/limits.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { silentLogger } from '@atrium/core/util/logger.js';
import { AccessControl, isLimited, type TerminalOwner } from '@atrium/core/wire/access-control.js';
import { Clients } from '@atrium/core/wire/clients.js';
import { ConnectionRegistry } from '@atrium/core/wire/connections.js';
import type { WireContext } from '@atrium/core/wire/context.js';
import type { DialectView } from '@atrium/core/wire/dialects/dialects.js';
import { Editions } from '@atrium/core/wire/editions.js';
import { outgoingNotification } from '@atrium/core/wire/frames.js';
import { LoadedTurns } from '@atrium/core/wire/loaded-turns.js';
import { Requests } from '@atrium/core/wire/requests.js';
import { Subscriptions } from '@atrium/core/wire/subscriptions.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import { unknownChannel } from '@atrium/core/wire/unknown-channel.js';
import {
  ACCESS_MEMBER,
  CLUSTER_MEMBER,
  channelKind,
  defaultChatUri,
  HOST_SETTINGS_MAX,
  hasRole,
  isWorkerChatUri,
  PROJECTS_METHOD,
  ROOT_CHANNEL,
  SETTINGS_METHOD,
} from '@atrium/protocol/ahp-1';
import { Auth } from './auth/auth.js';
import { Automations } from './automations/automations.js';
import { attachments } from './blobs/attachments.js';
import { FileBlobStore } from './blobs/file-blob-store.js';
import { blobReader, putImported } from './blobs/named-blobs.js';
import { NamedInSessions } from './blobs/named-in-sessions.js';
import { BlobSweeper } from './blobs/sweep.js';
import { DamageReports } from './damage-reports.js';
import { Devices } from './devices/devices.js';
import { Gateway } from './gateway/gateway.js';
import { PairingBoard } from './gateway/pairing.js';
import type { GatewayAddress, HostOptions } from './host-options.js';
import { hostsService } from './hosts.js';
import { imports } from './imports/imports.js';
import { instructionList } from './instruction-files.js';
import { namedIn, namesOfFolders } from './named-sessions.js';
import { Notifications } from './notifications/notifications.js';
import { PermissionService } from './permissions/permission-service.js';
import { RuleFiles } from './permissions/rule-files.js';
import { RuleUses } from './permissions/rule-uses.js';
import { Customizations } from './plugins/customizations/customizations.js';
import { NO_TRUST } from './plugins/trust/folder-trust.js';
import { SessionTrusts } from './plugins/trust/session-trust.js';
import { Reach } from './reach.js';
import { Search } from './search/search.js';
import { Tunnels } from './server/tunnels.js';
import { Shares } from './shares/shares.js';
import { Telemetry } from './telemetry/telemetry.js';
import { createTelemetry } from './telemetry/telemetry-service.js';
import { Usage } from './usage/usage.js';
import { ProjectBoard } from './workspace/board/board.js';
import { Changesets } from './workspace/changes/changesets.js';
import { Completions } from './workspace/completions/completions.js';
import { browsedFolders, Resources } from './workspace/files/resources.js';
import { projectsOf } from './workspace/git/projects.js';
import { Rewinds } from './workspace/rewind/rewinds.js';
import { Terminals, withoutTerminals } from './workspace/terminals/terminals.js';
import { Worktrees } from './workspace/worktrees/worktrees.js';

/** Merges what services add to the greeting. Only the owner hears of telemetry and of the cluster. */
function abilitiesFor({ role, bounds }: Access, services: readonly Service[]): Readonly<Record<string, unknown>> {
  const all: Record<string, unknown> = Object.assign({}, ...services.map(({ greeting }) => greeting));
  const { telemetry: _telemetry, [CLUSTER_MEMBER]: _cluster, ...rest } = all;
  return hasRole(role, 'owner') && !bounds ? all : rest;
}

/** Tells a client its own access, so that it offers nothing that it cannot do. */
function describedAccess({ role, bounds, until, leftOut, credential }: Access) {
  const { kind, name } = credential;
  return { role, kind, ...(name !== undefined && { name }), isBounded: bounds !== undefined, until, leftOut };
}

export interface ComposeEvents {
  /** Another host has taken over the log. */
  superseded(error: Error): void;
  /** Where the providers that the host itself starts connect. */
  gatewayAddress(): GatewayAddress | undefined;
}

/** How many sessions the board of a project covers; the newest come first. */
const BOARD_LISTED_MAX = 1_000;

export type HostComponents = ReturnType<typeof compose>;

export function compose(options: HostOptions, events: ComposeEvents) {
  const { log, agents, dataFolder, deviceKeys, defaultDirectory, clock = systemClock, trust = NO_TRUST } = options;
  const inDataFolder = (name: string) => (dataFolder === undefined ? undefined : path.join(dataFolder, name));
  const telemetry = new Telemetry({ clock, ...options.telemetry });
  const logger = telemetry.alongside(options.logger ?? silentLogger);

  // The write path, and what the log stores besides sessions.
  const delivery = new DirectDelivery({ shown: log.head, logger, show: (batch) => postCommit.show(batch) });
  const writer: Writer = new Writer({
    ...{ log, clock, logger, delivery, superseded: events.superseded },
    stored: (entries, milliseconds) => postCommit.took(entries, milliseconds),
    answered: (origin, answer) => clients.received.answered(origin, answer),
    undone: (batch) => postCommit.undone(batch),
    behind: (behind) => postCommit.behind(behind),
  });
  const root = new RootChannel(log, writer);
  const catalogue = new Catalogue(
    log,
    writer,
    (session, changes) => subscriptions.notify(ROOT_CHANNEL, 'root/sessionSummaryChanged', { session, changes }),
    (session) => search.follower.changed(session),
    (summary) => subscriptions.notify(ROOT_CHANNEL, 'root/sessionAdded', { summary }),
    clock,
  );
  const records = new SessionRecords(log, writer);
  const damage = new DamageReports({ log, writer, clock, logger });

  // Clients: who is connected, what they are subscribed to, what they missed.
  const clients = new Clients(log, writer, clock, (id) => devices.store.isGone(id, CLIENT_GRACE_MS));
  const connections: ConnectionRegistry = new ConnectionRegistry({
    clock,
    left: (connection) => {
      subscriptions.removeAllOf(connection);
      for (const service of services) service.left?.(connection);
    },
    // The role of active client ends with the connection; its calls get a grace period.
    lost: () => {
      for (const session of sessions.inMemory.values()) session.dropAbsentClients();
    },
    gone: (clientId) => {
      clients.forget(clientId);
      subscriptions.forgetClient(clientId);
      for (const session of sessions.inMemory.values()) abandonCalls(session, clientId);
    },
  });
  const devices: Devices = new Devices({
    ...{ log, writer, clock, logger, dataFolder, hostKey: deviceKeys?.host },
    changeAccess: (id, access) => connections.changeAccess(id, access),
    connectionsOf: (id) => connections.withCredential(id).length,
    notify: (caller, method, params) => {
      for (const connection of connections.all())
        if (connection === caller) connection.send(outgoingNotification({ method, params }));
    },
    releaseClient: async (clientId) => {
      connections.of(clientId)?.close(CloseCode.AccessEnded, 'this client id was released');
      resources.grants.endOfClient(clientId);
      return clients.release(clientId);
    },
  });
  const inputs = new InputReferences({ inlineMaxCharacters: options.toolInputInlineMaxCharacters });
  const view: DialectView = {
    providerOf: (session) => catalogue.providerOf(session),
    namesakeOf: (rest) => catalogue.namesakeOf(rest),
    hasProvider: (provider) => agents.some(({ info }) => info.provider === provider),
    sessionUriOf: (chat) => catalogue.chats.sessionUriOf(chat),
    defaultChatOf: (session) => (catalogue.has(session) ? defaultChatUri(session) : undefined),
    summaryOf: (session) => catalogue.find(session)?.summary,
    sessionOf: (session) => sessions.inMemory.get(session)?.committed,
    chatOf: (chat) => sessions.inMemory.get(sessions.sessionUriOf(chat))?.chatAt(chat)?.committed,
    memoryOf: (group) => editions.main.memories.get(group),
    referTo: inputs.referTo,
  };
  const open = async (uri: string): Promise<OpenChannel | undefined> => {
    if (uri === ROOT_CHANNEL) return root;
    const service = serviceOf(services, uri);
    if (service) return service.open?.(uri);
    const kind = channelKind(uri);
    if (kind === 'annotations') return sessions.openAnnotations(uri);
    return kind === 'chat' ? sessions.openChat(uri) : sessions.open(uri);
  };
  // Who may do and see what. Nearly always there is one owner, who may do and see everything.
  const terminalOwner = (uri: string): TerminalOwner | undefined => {
    const claim = root.terminals.find(({ resource }) => resource === uri)?.claim;
    if (claim?.kind === 'session') return { session: claim.session };
    return claim && { clientId: claim.clientId, folder: terminals.startedIn(uri) };
  };
  const control = new AccessControl(
    {
      placeOf: (session) => catalogue.find(session)?.summary,
      sessionOf: (uri) => {
        const { session, chat } = namedIn(uri);
        return session ?? (chat === undefined ? undefined : catalogue.chats.sessionUriOf(chat));
      },
      ownerOf: terminalOwner,
      isWorkerChat: isWorkerChatUri,
    },
    () => clock.now(),
  );
  const editions: Editions = new Editions(view, control, {
    foldersOf: (shared) => shared.flatMap((session) => namesOfFolders(catalogue.find(session)?.summary)),
    seesTerminal: (access, terminal) => {
      const owner = terminalOwner(terminal);
      return !access.bounds || (owner?.session !== undefined && control.sees(access, owner.session));
    },
  });
  const subscriptions: Subscriptions = new Subscriptions({
    ...{ editions, control, connections, view, open, windows: new LoadedTurns({ log, writer }) },
    chatsOf: (session) => sessions.chatsOf(session),
    sendNumbered: (notice) => writer.sendNumbered(notice),
    settled: () => writer.settled(),
    shown: () => delivery.shown,
    unsubscribed: (uri) => {
      idle.used(sessions.sessionUriOf(uri));
      if (!subscriptions.isWatched(uri)) serviceOf(services, uri)?.unwatched?.(uri);
    },
    roleEnded: (uri, clientId) => {
      const session = sessions.inMemory.get(uri);
      if (!session?.dropClient(clientId)) return;
      abandonCalls(session, clientId);
    },
  });
  const notify = (uri: string, method: string, params: object) => subscriptions.notify(uri, method, params);

  // Extensions of sessions: providers at the gateway, and plugins.
  const pairings = new PairingBoard(clock, logger);
  const trusts = new SessionTrusts(trust, logger);
  const gateway = new Gateway({
    ...{ clock, logger, telemetry, commits: writer },
    isStrict: options.strictProviders ?? false,
    address: events.gatewayAddress,
    showCodes: (notice) => pairings.post(notice),
    released: (uri) => idle.used(uri),
    pushed: (event) => automations[0]?.pushed(event),
    ...(options.providerFolder !== undefined && { filesFolder: options.providerFolder }),
  });
  const customizations = options.customizations
    ? new Customizations({
        ...{ options: options.customizations, clock, logger, notify },
        isTrusted: async (folder) => trust.isTrusted(folder),
        connectionOf: (clientId) => connections.of(clientId),
      })
    : undefined;
  const auth = new Auth({
    ...{ clock, logger, agents, notify },
    giveToServers: (resource, grant) => customizations?.authenticate(resource, grant) ?? false,
  });

  // Sessions and services need each other, so both lists start empty and are filled further below.
  const services: Service[] = [];
  const observers: AttachObserver[] = [];
  const blobFolder = inDataFolder('content');
  const blobs = blobFolder === undefined ? undefined : new FileBlobStore(blobFolder);
  const worktreeFolder = inDataFolder('worktrees');
  const worktrees = worktreeFolder === undefined ? undefined : new Worktrees(worktreeFolder, logger);
  const browsed = browsedFolders(defaultDirectory, options.browsedFolders);
  const choices = new SessionConfig({
    ...{ worktrees, defaultDirectory, browsed },
    autoApprove: () => root.settings.autoApprove ?? false,
    mode: () => root.settings.mode,
    takesPromptSections: options.systemMessageSections,
    recentFolders: () => catalogue.folders(),
  });
  const uses = new RuleUses({ file: inDataFolder('permission-uses.json'), clock, logger });
  const rules = new RuleFiles({
    hostFile: inDataFolder('permissions.json'),
    personFile: options.personFile,
    trust,
    uses,
  });
  const turnStarts = new TurnStarts();
  const sessions: Sessions = new Sessions({
    ...{
      clock,
      logger,
      writer,
      log,
      telemetry,
      catalogue,
      records,
      permissions: rules,
      blobs,
      services,
      root,
      agents,
      choices,
      open,
    },
    turnStarts,
    presence: connections,
    watchers: subscriptions,
    deferrals: clients.received,
    tools: options.tools ?? [],
    extensions: options.extensions ?? [],
    folderPlaces: options.folderPlaces,
    programs: options.programs,
    observers: observers,
    toolOutputMaxCharacters: options.toolOutputMaxCharacters ?? MODEL_OUTPUT_MAX_CHARACTERS,
    joinsText: options.joinText ?? true,
    inputs,
    suspendProcessesAfterMs: options.restProcessesAfterMs ?? PROCESSES_IDLE_MS,
    used: (uri) => idle.used(uri),
  });
  options.programs?.rememberIn({
    of: (session) => records.lastHost(session),
    set: (session, host) => records.setLastHost(session, host),
  });
  options.programs?.whenLeaving((uri) => sessions.inMemory.get(uri)?.suspendProcesses());
  const idle: IdleUnloader = new IdleUnloader({
    ...{ clock, logger },
    isInMemory: (uri) => sessions.inMemory.has(uri),
    isWatched: (uri) => [uri, ...sessions.chatsOf(uri)].some((channel) => subscriptions.isWatched(channel)),
    unload: async (uri) => {
      await sessions.unloadIfIdle(uri);
      if (!sessions.inMemory.has(uri)) subscriptions.forget(uri);
    },
  });

  // Services: the parts that answer requests of their own, in the order in which the host asks them.
  const host = {
    ...{ clock, logger, writer, root, sessions, connections, customizations, defaultDirectory, notify, unknownChannel },
    isWatched: (uri: string) => subscriptions.isWatched(uri),
    unsubscribeAll: (uri: string) => subscriptions.unsubscribeAll(uri),
    unsentTo: (uri: string) => subscriptions.unsentTo(uri),
    watchedBy: (caller: Caller) => subscriptions.channelsOf(caller),
    released: (uri: string) => idle.used(uri),
  };
  const scriptsFolder = inDataFolder('shells');
  const terminals =
    options.terminals === false ? withoutTerminals(host) : new Terminals(host, { scriptsFolder, ...options.terminals });
  const changesFolder = inDataFolder('changes');
  // Without a folder for old contents, nothing can be undone.
  const changes = changesFolder === undefined ? [] : [new Changesets({ host, log, folder: changesFolder, trust })];
  const rewinds = new Rewinds({
    ...{ log, writer, logger, sessions },
    filesOf: (session) => changes[0]?.rewindFilesOf(session),
    changedIn: (session) => changes[0]?.changedIn(session),
  });
  const notifications = new Notifications(
    {
      ...{ clock, logger, log, writer, dataFolder, pushKeys: deviceKeys?.push },
      isConnected: (clientId) => connections.isConnected(clientId),
      sessionOf: (uri) => sessions.inMemory.get(uri),
      open: (uri) => sessions.open(uri),
      titleOf: (uri) => catalogue.find(uri)?.summary.title,
      accessOf: (device) => devices.accessOfDevice(device),
      canSee: (access, uri) => catalogue.isListed(uri) && control.sees(access, uri),
      notify: ({ identity }, method, params) => {
        const connection = identity && connections.of(identity.clientId);
        if (connection) subscriptions.notifyOne(connection, { method, params });
      },
    },
    options.notifications,
  );
  devices.onGone((id) => notifications.removeDevice(id));
  devices.onTokenReplaced(() => notifications.removeBrowsersOfOwner());
  const automations =
    options.automations === false
      ? []
      : [
          new Automations(
            {
              ...{ ...host, log, agents },
              assertUsable: (agent) => auth.checkStored(agent),
              runEnded: (run, title) => notifications.runEnded(run, title),
            },
            options.automations,
          ),
        ];
  const usage = new Usage(
    {
      ...{ log, writer, clock },
      titleOf: (kind, name) => (kind === 'session' ? catalogue.find(name)?.summary.title : undefined),
      open: (uri) => sessions.open(uri),
    },
    options.usage,
  );
  const board = new ProjectBoard({
    ...{ sessions, trust },
    listed: () => JSON.parse(sessions.page({ limit: BOARD_LISTED_MAX }).text),
    costOf: async (session) =>
      (await usage.extensionRequests['atrium/usage'](undefined, { by: 'model', session })).total.cost,
  });
  const isStored = (uri: string) => catalogue.has(uri);
  const search: Search = new Search({
    ...{ clock, logger, log },
    afterCommit: (callback) => writer.afterCommit(callback),
    sessions: () => catalogue.stored(),
    chatsOf: (session) => (isStored(session) ? sessions.chatsOf(session) : []),
    isStored: (uri) => isStored(catalogue.chats.sessionUriOf(uri) ?? uri),
    isAtWork: () => [...sessions.inMemory.values()].some((session) => session.isAtWork),
    ownerOf: (chat) => catalogue.chats.sessionUriOf(chat),
    canSee: ({ access }, session) => catalogue.isListed(session) && control.sees(access, session),
    summaryOf: (session) => catalogue.find(session)?.summary,
    listed: () => catalogue.searchable(),
    titleOf: (uri) => {
      const { summary } = catalogue.find(uri) ?? {};
      return summary && { title: summary.title, time: Date.parse(summary.modifiedAt) || 0 };
    },
    channels: () => catalogue.stored().flatMap((session) => [session, ...sessions.chatsOf(session)]),
  });
  const named = new NamedInSessions(log, (session) => sessions.chatsOf(session));
  const existsFor = async (access: Access, uri: string) => {
    const { bounds, leftOut } = access;
    const isLeftOut = leftOut?.includes('toolOutput') && leftOut.includes('attachments');
    const visible = () => catalogue.stored().filter((uri) => catalogue.isListed(uri) && control.sees(access, uri));
    return !isLeftOut && named.isNamed(uri, bounds?.folders ? visible() : (bounds?.sessions ?? []));
  };
  const stores = [...(blobs ? [blobReader(blobs, existsFor)] : []), ...changes.map(({ contents }) => contents)];
  const readers = [...stores, inputReader(sessions)];
  const resources = new Resources({
    ...{ host, browsed, userFolder: options.customizations?.userFolder, readers },
    foldersFor: (clientId, access = connections.of(clientId)?.access) => (access ? control.foldersOf(access) : []),
  });
  devices.onGone((id) => resources.grants.endOfCredential(id));
  const shares = new Shares({
    ...{ clock, store: devices.store },
    titleOf: (session) => (catalogue.isListed(session) ? catalogue.find(session)?.summary.title : undefined),
    connectionsOf: (id) => connections.withCredential(id).length,
    addresses: () => devices.addresses,
  });
  devices.onAccess((id, access) => void shares.makerChanged(id, access).catch(() => {}));
  const tunnels = new Tunnels();
  services.push(
    new Reach({ tunnels, logger, asksForToken: () => devices.asksForToken }),
    ...(options.cluster ? [hostsService(options.cluster)] : []),
    createTelemetry({ ...host, telemetry }, options.telemetry ?? {}),
    auth,
    ...(worktrees ? [worktrees] : []),
    new Completions(host),
    search,
    terminals,
    ...changes,
    rewinds,
    ...automations,
    usage,
    notifications,
    board,
    devices,
    instructionList(sessions),
    new PermissionService({ sessions, files: rules, uses }),
    shares,
    attachments(blobs),
    resources,
    ...(blobs ? [new BlobSweeper({ clock, logger, log, blobs, storedSessions: () => sessions.stored() })] : []),
    imports({
      sources: async () => (await import('./imports/sources.js')).SOURCES.map((source) => source()),
      isKnown: (uri) => catalogue.has(uri),
      blobs,
      agents: () =>
        [root.settings.defaultAgent, ...agents.map(({ info }) => info.provider)].filter((id) => id !== undefined),
      store: (page, caller) =>
        sessions.import(page, {
          clientId: caller.identity?.clientId,
          assertUsable: (agent) => auth.check(caller, agent),
        }),
    }),
    {
      extensionRequests: {
        [SETTINGS_METHOD]: () => ({ items: (options.settings ?? []).slice(0, HOST_SETTINGS_MAX) }),
        [PROJECTS_METHOD]: async () => ({ folders: await projectsOf(sessions.workingFolders()) }),
        'atrium/pairings': () => ({ items: pairings.list() }),
        'atrium/declinePairing': (_caller, { id }) => ({ wasOpen: pairings.decline(String(id)) }),
        'atrium/keepContent': async (caller, params) => {
          await putImported(blobs, params, caller);
          return null;
        },
      },
    },
  );

  // Observers of every session, in the order in which they see its actions.
  observers.push((session) =>
    gateway.attach(session, {
      trust: trusts.of(session),
      abilities: session.abilities,
      isListed: () => catalogue.isListed(session.uri),
      withdrawStaleQuestions: () => session.standing.withdrawStale(),
    }),
  );
  if (customizations) {
    observers.push((session) =>
      customizations.attach(session, {
        trust: trusts.of(session),
        agent: session.backend,
        modelBefore: {
          load: () => records.modelBefore(session.uri),
          save: (model) => records.setModelBefore(session.uri, model),
        },
      }),
    );
  }
  if (options.titles) {
    const afterCommit = (callback: () => void) => writer.afterCommit(callback);
    observers.push(sessionTitles({ clock, logger, records, afterCommit }));
  }
  observers.push(...services.flatMap(({ attach }) => attach ?? []));

  // After a commit, and the requests of clients.
  const compaction = new Compaction({
    ...{ log, logger, keep: REPLAY_MAX_ENVELOPES },
    storeArchive: (uri) => serviceOf(services, uri)?.storeArchive?.(uri) ?? sessions.storeArchive(uri),
  });
  const postCommit = new PostCommit({
    ...{ clock, metrics: telemetry, subscriptions, compaction, sessions, idle, root, clients, connections },
  });
  const requests = new Requests({
    ...{ clock, sessions, subscriptions, services, writer, control },
    checkAccess: (connection, agent) => auth.check(connection, agent),
  });
  const wire: WireContext = {
    ...{ clock, logger, writer, clients, connections, subscriptions, log, requests, view, open, control, editions },
    lendingRevoked: (clientId) => {
      for (const session of sessions.inMemory.values())
        if (session.dropClient(clientId)) abandonCalls(session, clientId);
    },
    greeting: (access) => ({
      serverInfo: { name: 'atrium', title: 'Atrium', ...(options.version && { version: options.version }) },
      // Viewers and limited clients learn neither the default folder nor the services; only the owner learns of
      // repairs.
      ...(hasRole(access.role, 'driver') && !access.bounds && defaultDirectory && { defaultDirectory }),
      ...(hasRole(access.role, 'driver') && !access.bounds && abilitiesFor(access, services)),
      ...(hasRole(access.role, 'owner') && damage.greeting),
      ...(isLimited(access) && { [ACCESS_MEMBER]: describedAccess(access) }),
    }),
  };

  return {
    ...{ clock, logger, writer, root, catalogue, records, damage, clients, connections, subscriptions, idle },
    ...{ sessions, turnStarts, services, gateway, wire, search, notifications, devices, tunnels },
  };
}

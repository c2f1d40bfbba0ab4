/** Puts the gateway together. */

import type { Session } from '../core/sessions/session.js';
import type { Clock } from '../core/util/clock.js';
import type { Logger } from '../core/util/logger.js';
import type { SessionTrust } from '../plugins/trust/session-trust.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { degradedFor, degradedWords } from './degraded.js';
import { Doorkeeper } from './doorkeeper.js';
import { SessionEvents } from './events/events.js';
import { Lifecycle } from './events/lifecycle.js';
import { Gateway } from './gateway.js';
import { ProviderHooks } from './hooks/hooks.js';
import { News } from './news/news.js';
import { Pairings, type ShowCodes } from './pairing.js';
import { PersistFolders } from './persist-folders.js';
import { Presence } from './presence.js';
import { ListedProviders } from './project/listed-providers.js';
import { ProjectProviders } from './project/project-providers.js';
import { Binding, type Provider } from './provider.js';
import type { Room } from './room.js';
import { ProviderTokens } from './tokens.js';
import { checkTools } from './tools/conflicts.js';
import { ProviderTools } from './tools/tools.js';
import { Updates } from './updates.js';

export interface GatewayOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry?: Telemetry;
  /** Where providers that run on this machine may leave files; absent when they may not. */
  readonly filesFolder?: string;
  /** Refuses rules and prompt changes that the agent of a session cannot honour, instead of only saying so. */
  readonly isStrict?: boolean;
  /** Where providers that the host starts find the gateway; undefined while it has no port. */
  address(): { readonly url: string; readonly port: number } | undefined;
  trustOf(session: Session): SessionTrust;
  /** Where people see which programs ask to be let in. */
  readonly showCodes: ShowCodes;
  settled(): Promise<void>;
  afterCommit(then: () => void): void;
  mayRest(uri: string): void;
}

export interface CreatedGateway {
  readonly gateway: Gateway;
  /** For processes that the host starts. */
  readonly tokens: ProviderTokens;
}

export function createGateway(options: GatewayOptions): CreatedGateway {
  const tokens = new ProviderTokens();
  const isStrict = options.isStrict ?? false;
  const folders = new PersistFolders(options.filesFolder);
  const persistDir = (provider: Provider) => folders.of(provider);
  let listed: ListedProviders | undefined;
  const gateway = new Gateway({
    ...options,
    persistDir,
    checkName: (provider, room) => listed?.checkName(provider, room),
    checkTools: (provider, room, tools) => checkTools(provider, room, tools),
    isStrict,
    degraded: (provider, room) => degradedFor(provider.bindings.get(room.id) ?? new Binding(provider, room)),
    doorkeeper: (core) => new Doorkeeper(tokens, new Pairings(core, options.showCodes)),
    services: (core) => {
      const updates = new Updates(core);
      const news = new News(core, updates);
      const note = (room: Room, from: string, text: string) => news.timeline.note(room, from, text);
      const trustOf = (room: Room) => options.trustOf(room.session);
      const providers = new ListedProviders({ core, note });
      listed = providers;
      return [
        new ProviderTools({ core, updates, persistDir }),
        new ProviderHooks({ core, updates, isStrict }),
        news,
        new SessionEvents({ core, isOfProvider: (room, turnId) => news.hasStarted(room, turnId) }),
        new Lifecycle(core),
        providers,
        new Presence({ degraded: degradedWords, missing: (room) => providers.missing(room), note }),
        new ProjectProviders({ core, tokens, note, trustOf, listed: providers, address: () => options.address() }),
      ];
    },
  });
  return { gateway, tokens };
}

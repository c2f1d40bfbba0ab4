/** The requests of clients about rules: list, add, remove, try. Also attaches plan mode to every session. */
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { PermissionCall } from '@atrium/core/permissions/decide.js';
import { parseRule, ruleText } from '@atrium/core/permissions/rules.js';
import { subjectOf } from '@atrium/core/permissions/subjects.js';
import type { Service } from '@atrium/core/sessions/service.js';
import type { Session } from '@atrium/core/sessions/session.js';
import { SessionPermissions } from '@atrium/core/sessions/session-permissions.js';
import type { AllowedTool } from '@atrium/core/sessions/session-records.js';
import type { Sessions } from '@atrium/core/sessions/sessions.js';
import { foldersOf } from '@atrium/core/util/folders.js';
import {
  ADD_PERMISSION_METHOD,
  allowsAll,
  type CallPermission,
  ErrorCode,
  type ListedRule,
  modeIn,
  PERMISSIONS_METHOD,
  type PermissionList,
  REMOVE_PERMISSION_METHOD,
  ROOT_CHANNEL,
  RULE_EFFECTS,
  type RuleEffect,
  TEST_PERMISSION_METHOD,
  WRITABLE_SCOPES,
  type WritableScope,
} from '@atrium/protocol/ahp-1';
import { attachPlanMode } from './plan-mode.js';
import type { RuleFiles } from './rule-files.js';
import type { RuleUses } from './rule-uses.js';

export interface PermissionServiceOptions {
  readonly sessions: Pick<Sessions, 'open'>;
  readonly files: RuleFiles;
  readonly uses: RuleUses;
}

type Params = Readonly<Record<string, unknown>>;

export class PermissionService implements Service {
  readonly #options: PermissionServiceOptions;
  readonly attach = attachPlanMode;

  constructor(options: PermissionServiceOptions) {
    this.#options = options;
  }

  readonly extensionRequests: NonNullable<Service['extensionRequests']> = {
    [PERMISSIONS_METHOD]: async (_caller, params) => this.#list(await this.#session(params)),
    [ADD_PERMISSION_METHOD]: async (_caller, params) => this.#add(params),
    [REMOVE_PERMISSION_METHOD]: async (_caller, params) => this.#remove(params),
    [TEST_PERMISSION_METHOD]: async (_caller, params) => this.#test(params),
  };

  async #session({ channel }: Params): Promise<Session | undefined> {
    // Clients send requests that concern no session to the root channel.
    if (channel === undefined || channel === ROOT_CHANNEL) return undefined;
    const session = await this.#options.sessions.open(String(channel));
    if (!session) throw new RequestError(ErrorCode.InvalidParams, `/channel: there is no session ${String(channel)}`);
    await session.toolPermissions.load();
    return session;
  }

  async #list(session: Session | undefined): Promise<PermissionList> {
    const { rules, problems } = await this.#options.files.list(placesOf(session));
    const values = session?.state.config?.values;
    return {
      ...(session && { mode: modeIn(values) }),
      rules: [...rules, ...(session ? this.#ownRules(session) : [])],
      problems,
    };
  }

  #ownRules({ uri, toolPermissions, state }: Session): ListedRule[] {
    const { uses } = this.#options;
    const tools = toolPermissions
      .tools()
      .map((tool) => ({ effect: 'allow' as const, tool: toolName(tool), scope: 'session' as const }));
    const all = allowsAll(state.config?.values)
      ? [{ effect: 'allow' as const, tool: '*', scope: 'session' as const }]
      : [];
    return [...toolPermissions.rules(), ...tools, ...all].map((rule) => {
      const lastUsed = uses.lastUse(rule, uri);
      return {
        effect: rule.effect,
        rule: ruleText(rule),
        scope: 'session',
        ...(lastUsed !== undefined && { lastUsed }),
      };
    });
  }

  async #add(params: Params): Promise<null> {
    const { scope, effect, rule } = placed(params);
    const session = await this.#session(params);
    if (!session && scope !== 'person') throw invalid('/channel: name the session, or its folder has no place');
    const permissions = session?.permissions ?? this.#without();
    try {
      await permissions.write(scope, effect, [rule], placesOf(session));
    } catch (error) {
      throw invalid(error instanceof Error ? error.message : String(error));
    }
    return null;
  }

  async #remove(params: Params): Promise<{ wasThere: boolean }> {
    const { scope, effect, rule } = placed(params);
    const session = await this.#session(params);
    if (scope !== 'session') {
      if (!this.#options.files.writable(placesOf(session)).includes(scope))
        throw invalid(`/scope: there are no rules of a ${scope} here`);
      return { wasThere: await this.#options.files.remove({ scope, effect, folders: placesOf(session) }, rule) };
    }
    if (!session) throw invalid('/channel: name the session');
    return { wasThere: dropOwn(session, effect, rule) };
  }

  async #test(params: Params): Promise<CallPermission> {
    const session = await this.#session(params);
    const { command, tool = 'shell', input } = params;
    const name = String(tool);
    const subject = subjectOf({ tool: name, input: command === undefined ? input : { command }, runs: 'host' });
    const call: PermissionCall = {
      subject,
      tool: name,
      isReadOnly: subject.kind === 'files' && subject.access === 'read',
    };
    return (session?.permissions ?? this.#without()).test(call, placesOf(session));
  }

  /** The rules of host and person, for requests without a session. */
  #without(): SessionPermissions {
    const kept = { has: () => false, rules: () => [] } as unknown as Session['toolPermissions'];
    const state = () => ({}) as Session['state'];
    return new SessionPermissions({ uri: '', state, kept, store: this.#options.files });
  }

  async close(): Promise<void> {
    await this.#options.uses.store();
  }
}

function placesOf(session: Session | undefined): string[] {
  return session ? foldersOf(session.state) : [];
}

function toolName({ name, owner }: AllowedTool): string {
  return owner === undefined ? name : `${owner}:${name}`;
}

/** Removes a rule of the session, a tool that was allowed as a whole, or the setting that allows everything. */
function dropOwn(session: Session, effect: RuleEffect, rule: string): boolean {
  const { toolPermissions } = session;
  if (toolPermissions.removeRule(effect, rule)) return true;
  if (effect !== 'allow') return false;
  if (rule === '*' && allowsAll(session.state.config?.values)) {
    session.write({ type: 'session/configChanged', config: { autoApprove: false } });
    return true;
  }
  const tools = toolPermissions.tools().filter((tool) => toolName(tool) === rule);
  for (const tool of tools) toolPermissions.remove(tool);
  return tools.length > 0;
}

function placed({ scope, effect, rule }: Params): { scope: WritableScope; effect: RuleEffect; rule: string } {
  const place = WRITABLE_SCOPES.find((each) => each === scope);
  const kind = RULE_EFFECTS.find((each) => each === effect);
  if (!place) throw invalid(`/scope must be one of ${WRITABLE_SCOPES.join(', ')}`);
  if (!kind) throw invalid(`/effect must be one of ${RULE_EFFECTS.join(', ')}`);
  if (typeof rule !== 'string') throw invalid('/rule must be a text, such as shell(git diff *)');
  try {
    return { scope: place, effect: kind, rule: ruleText(parseRule(rule, kind, place)) };
  } catch (error) {
    throw invalid(`/rule: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, message);
}

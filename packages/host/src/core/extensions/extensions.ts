/** All extensions of one session, in the order in which they came, and what follows when one of them changes. */
import type { SessionAction, SessionState, ToolDefinition } from '@atrium/protocol';
import type { Extension, Gate } from '../contracts/extension.js';
import type { HostTool } from '../contracts/tool.js';

export interface ExtensionsParts {
  /** The host's own tools, as far as the agent uses them. They come before all others. */
  readonly builtins: readonly HostTool[];
  /** Those that every session has. */
  readonly standing: readonly Extension[];
  readonly state: () => SessionState;
  readonly write: (action: SessionAction) => void;
}

export class Extensions {
  readonly #parts: ExtensionsParts;
  readonly #all = new Map<string, Extension>();
  /** Whoever makes several changes that belong together. */
  #holds = 0;

  constructor(parts: ExtensionsParts) {
    this.#parts = parts;
    for (const extension of parts.standing) this.#all.set(extension.id, extension);
  }

  /** Adds one, or puts it in the place of the one with its id. */
  set(extension: Extension): void {
    this.#all.set(extension.id, extension);
    this.changed();
  }

  remove(id: string): void {
    if (this.#all.delete(id)) this.changed();
  }

  all(): readonly Extension[] {
    return [...this.#all.values()];
  }

  /** Every tool that the host can run in this session. Of two with one name, the first counts. */
  tools(): readonly HostTool[] {
    const tools = new Map<string, HostTool>();
    const offered = [...this.#parts.builtins, ...this.all().flatMap((extension) => extension.tools ?? [])];
    for (const tool of offered) if (!tools.has(tool.definition.name)) tools.set(tool.definition.name, tool);
    return [...tools.values()];
  }

  /** Which tools the model is not to hear of now. */
  hidden(): (toolName: string) => boolean {
    const hidden = this.all().flatMap((extension) => extension.hidden?.() ?? []);
    return (toolName) => hidden.some((isHidden) => isHidden(toolName));
  }

  gates(): readonly Gate[] {
    return this.all().flatMap((extension) => extension.gates ?? []);
  }

  /** Several changes of one tick belong together: until the returned function is called, nobody is told. */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      this.changed();
    };
  }

  /** One of them offers something else now: everybody who keeps a list of tools is told. */
  changed(): void {
    if (this.#holds > 0) return;
    const tools: ToolDefinition[] = this.tools().map(({ definition }) => definition);
    const known = this.#parts.state().serverTools ?? [];
    if (JSON.stringify(tools) !== JSON.stringify(known))
      this.#parts.write({ type: 'session/serverToolsChanged', tools });
  }
}

/** Where this machine keeps customizations. What is not named here is not looked for. */

export interface CustomizationsOptions {
  /** The user's own folder, usually `~/.agents`: plugins, agents, skills, rules and prompts for all projects. */
  readonly userFolder?: string;
  /** The user's configuration file, for `plugins` and `mcpServers`. */
  readonly userConfigFile?: string;
  /** Where plugins may keep data of their own, each in a folder that the host makes. */
  readonly dataFolder?: string;
}

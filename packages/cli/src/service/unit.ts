/**
 * The host as a service of the system: the unit of systemd or the agent of launchd that runs it, as text. Both belong to
 * one user, start with the login, and start the host again when it fails, not when it was stopped.
 */
import path from 'node:path';

export interface ServiceUnit {
  /** The path where the system looks for the unit. */
  readonly file: string;
  readonly text: string;
  /** The commands that make the system run the unit now and at every login, in order. */
  readonly enable: readonly (readonly string[])[];
  /** The commands that stop the unit and remove it from the system; the caller removes the file afterwards. */
  readonly disable: readonly (readonly string[])[];
  /** The command that makes the system use a changed file. */
  readonly restart: readonly string[];
  /** The command with which a user reads the host's log. */
  readonly logs: string;
}

export interface UnitOptions {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user id, which launchd needs. */
  readonly uid: number;
  readonly name: string;
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly dataDir: string;
}

/** Only a file with this line may be changed and removed. */
export const MARK = 'Written by `atrium service install`';
/** A host that stops in good order gives itself 15 seconds. */
const STOP_SECONDS = 20;
/**
 * Passed on, so that the host finds agents as in the user's shell. Without keys: others may read the file, and backups
 * keep it.
 */
const KEPT_VARIABLES = ['PATH', 'LANG'];

/** Undefined on systems without a known service manager. */
export function serviceUnit(options: UnitOptions): ServiceUnit | undefined {
  if (options.platform === 'linux') return systemdUnit(options);
  if (options.platform === 'darwin') return launchdAgent(options);
  return undefined;
}

function keptVariables({ env }: UnitOptions): [string, string][] {
  return KEPT_VARIABLES.flatMap((name) => (env[name] ? [[name, env[name]] as [string, string]] : []));
}

function systemdUnit(options: UnitOptions): ServiceUnit {
  const { home, env, name, command } = options;
  const { XDG_CONFIG_HOME: shared } = env;
  const base = shared && path.posix.isAbsolute(shared) ? shared : path.posix.join(home, '.config');
  const unit = `${name}.service`;
  const environment = keptVariables(options).map(([key, value]) => `Environment=${systemdWord(`${key}=${value}`)}\n`);
  return {
    file: path.posix.join(base, 'systemd', 'user', unit),
    text: `# ${MARK}; \`atrium service uninstall\` removes it.
[Unit]
Description=Atrium, a host for coding agents

[Service]
${environment.join('')}ExecStart=${command.map(systemdArgument).join(' ')}
Restart=on-failure
RestartSec=2
TimeoutStopSec=${STOP_SECONDS}

[Install]
WantedBy=default.target
`,
    enable: [
      ['systemctl', '--user', 'daemon-reload'],
      ['systemctl', '--user', 'enable', '--now', unit],
    ],
    disable: [['systemctl', '--user', 'disable', '--now', unit]],
    restart: ['systemctl', '--user', 'restart', unit],
    logs: `journalctl --user -u ${name}`,
  };
}

/** Quotes a word, and doubles or escapes what systemd would replace. */
function systemdWord(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`;
}

/** In a command, systemd also expands variables. */
function systemdArgument(text: string): string {
  return systemdWord(text).replaceAll('$', '$$$$');
}

function launchdAgent(options: UnitOptions): ServiceUnit {
  const { home, uid, name, command, dataDir } = options;
  const label = `dev.atrium.${name}`;
  const file = path.posix.join(home, 'Library', 'LaunchAgents', `${label}.plist`);
  const log = path.posix.join(dataDir, 'host.log');
  const domain = `gui/${uid}`;
  const variables = keptVariables(options).map(
    ([key, value]) => `    <key>${key}</key><string>${xmlText(value)}</string>\n`,
  );
  return {
    file,
    text: `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${MARK}; \`atrium service uninstall\` removes it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${label}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((argument) => `    <string>${xmlText(argument)}</string>\n`).join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join('')}  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ExitTimeOut</key><integer>${STOP_SECONDS}</integer>
  <key>StandardOutPath</key><string>${xmlText(log)}</string>
  <key>StandardErrorPath</key><string>${xmlText(log)}</string>
</dict>
</plist>
`,
    enable: [['launchctl', 'bootstrap', domain, file]],
    disable: [['launchctl', 'bootout', `${domain}/${label}`]],
    restart: ['launchctl', 'kickstart', '-k', `${domain}/${label}`],
    logs: `tail -f ${log}`,
  };
}

function xmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

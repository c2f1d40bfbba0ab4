/**
 * Notifications on the desktop of the host's own machine, shown by a program of the system. Texts are passed as
 * arguments, never through a shell.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

const SHOW_TIMEOUT_MS = 10_000;

/** A program and its arguments. */
export interface DesktopCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of the host. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Desktop {
  show(title: string, body: string): Promise<void>;
}

interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  has(program: string): boolean;
}

const THIS_MACHINE: Machine = { platform: process.platform, env: process.env, has: isOnPath };

/** The desktop of this machine; undefined when it has none, as on a server, in a container, or over ssh. */
export function findDesktop(machine: Machine = THIS_MACHINE): Desktop | undefined {
  if (commandFor(machine, '', '') === undefined) return undefined;
  return {
    show: (title, body) => {
      const command = commandFor(machine, title, body);
      return command ? run(command) : Promise.resolve();
    },
  };
}

export function commandFor({ platform, env, has }: Machine, title: string, body: string): DesktopCommand | undefined {
  if (platform === 'darwin') {
    // Over ssh, no desktop can be reached.
    if (env.SSH_CONNECTION !== undefined || !has('osascript')) return undefined;
    const script = 'on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run';
    return { command: 'osascript', args: ['-e', script, title, body] };
  }
  if (platform === 'win32') {
    if (!has('powershell.exe')) return undefined;
    const encoded = Buffer.from(TOAST, 'utf16le').toString('base64');
    const args = ['-NoProfile', '-NonInteractive', '-EncodedCommand', encoded];
    return { command: 'powershell.exe', args, env: { ATRIUM_TITLE: title, ATRIUM_BODY: body } };
  }
  const isDesktop = env.DISPLAY !== undefined || env.WAYLAND_DISPLAY !== undefined;
  if (!isDesktop || env.DBUS_SESSION_BUS_ADDRESS === undefined || !has('notify-send')) return undefined;
  // Most desktops read the body as markup. After `--`, a text that begins with a dash is not an option.
  return { command: 'notify-send', args: ['--app-name=Atrium', '--', title, escaped(body)] };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The texts come from the environment and enter the document as text. */
const TOAST = `
$null = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$texts = $xml.GetElementsByTagName('text')
$null = $texts.Item(0).AppendChild($xml.CreateTextNode($env:ATRIUM_TITLE))
$null = $texts.Item(1).AppendChild($xml.CreateTextNode($env:ATRIUM_BODY))
$toast = [Windows.UI.Notifications.ToastNotification]::new($xml)
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier('Atrium').Show($toast)
`;

function isOnPath(program: string): boolean {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.some((folder) => existsSync(path.join(folder, program)));
}

function run({ command, args, env }: DesktopCommand): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...{ stdio: 'ignore', windowsHide: true, timeout: SHOW_TIMEOUT_MS },
      env: { ...process.env, ...env },
    });
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ended with ${code ?? 'a signal'}`)),
    );
  });
}

/** How much work a computation is. A busy machine makes it take longer, but not more processor time. */

/** The processor time that this process has used up to now, in milliseconds. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

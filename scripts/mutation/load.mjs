/** How much longer things take now because other programs want the processors, too. */
import { availableParallelism, loadavg } from 'node:os';

export const slowdown = () => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

/** Compiled validation of everything that comes from outside. */
export { type Checked, describeProblem, type Problem } from './check.js';
export { FRAME_MAX_DEPTH, type Frame, type FrameError, readFrame, readMessage } from './frame.js';
export {
  checkAction,
  checkClientNotification,
  checkClientRequest,
  checkClientRequestResult,
  checkHostNotification,
  checkHostRequest,
  checkHostRequestResult,
  checkToGateway,
  checkToProvider,
  isClientNotification,
  isClientRequest,
  isHostNotification,
  isHostRequest,
  isKnownAction,
} from './messages.js';

/** Compiled validation of everything that comes from outside. */
export { type Checked, describeProblem, type Problem } from './checked.js';
export { FRAME_MAX_DEPTH, type Frame, type FrameError, readFrame, readMessage } from './frame.js';
export { checkToGateway, checkToProvider } from './provider.js';
export {
  checkAction,
  checkClientNotification,
  checkClientRequest,
  checkClientRequestResult,
  checkHostNotification,
  checkHostRequest,
  checkHostRequestResult,
  isClientNotification,
  isClientRequest,
  isHostNotification,
  isHostRequest,
  isKnownAction,
} from './validate.js';

/** Folders that only their owner may read, for programs that keep files beside those of a host. */
export { type FolderOptions, folderOf, isFolder, makeFolder, makeFolderSync } from '@atrium/core/util/folders.js';
export { writePrivateFile } from '@atrium/core/util/secrets.js';

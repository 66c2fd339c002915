// @ts-check
import { hlsDriver } from './hls-driver.js';

const path = '/node_modules/hls.js-1.5/dist/hls.mjs';

export const { prepare } = hlsDriver(() => import(path));

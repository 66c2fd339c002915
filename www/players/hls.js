// @ts-check
import { hlsDriver } from './hls-driver.js';

export const { prepare } = hlsDriver(() => import('hls.js'));

// @ts-check
import { shakaDriver } from './shaka-driver.js';

export const { prepare } = shakaDriver('/node_modules/shaka-player/dist/shaka-player.compiled.js');

/** Plivo: see `roughCampaign.ts`. */
import { roughCampaign } from "./roughCampaign.ts"

roughCampaign("Plivo")

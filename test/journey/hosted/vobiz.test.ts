/** Vobiz: see `roughCampaign.ts`. */
import { roughCampaign } from "./roughCampaign.ts"

roughCampaign("Vobiz")
